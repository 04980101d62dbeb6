/**
 * The audit's three questions, in bounded batches.
 *
 * @module
 */
import type { AuditBatch, ChainBreak, PairFault, WalletAudit } from '../../ledger/store.js'
import type { EntryKind } from '../../ledger/types.js'
import type { LedgerPlace } from './entries.js'
import { bytes, minor, optionalMinor, text } from './rows.js'
import type { Row } from './driver.js'
import type { Session } from './session.js'
import { pageOfWallets, readWalletRow, selectWallets, type WalletColumns } from './wallet-table.js'

/** Where the walk stands: among the wallets, or among the ledger's users who have none. */
type Place = { readonly walk: 'wallets' | 'ledger'; readonly after: string | null }

function placeOf(cursor: string | null): Place {
  if (cursor === null) return { walk: 'wallets', after: null }
  const after = cursor.slice(1)
  return { walk: cursor.startsWith('l') ? 'ledger' : 'wallets', after: after === '' ? null : after }
}

/**
 * Each wallet against its ledger: first all wallets in the order of their index, then the users whom only the ledger
 * knows. Run it on one snapshot, or a credit between two reads would look like a fault.
 */
export async function auditWallets(
  session: Session,
  place: LedgerPlace,
  wallets: WalletColumns,
  cursor: string | null,
  limit: number,
): Promise<AuditBatch<WalletAudit>> {
  const { walk, after } = placeOf(cursor)
  if (walk === 'wallets') {
    const page = pageOfWallets(wallets, { after, prefix: '', negative: false, limit })
    const rows = page === null ? [] : await session.read(page)
    const balances = new Map(
      rows.map((row) => readWalletRow(wallets, row)).map(({ user, balance }) => [user, balance] as const),
    )
    const last = [...balances.keys()].at(-1)
    const next = rows.length < limit || last === undefined ? 'l' : `w${last}`
    return { items: await compare(session, place, [...balances.keys()], balances), next }
  }
  const users = await nextUsers(session, place, after, limit)
  const existing = users.length === 0 ? null : selectWallets(wallets, users, 'none')
  const known = new Set(
    (existing === null ? [] : await session.read(existing)).map((row) => text(row['user_bytes'])),
  )
  const gone = users.filter((user) => !known.has(user))
  return {
    items: await compare(session, place, gone, new Map()),
    next: users.length < limit ? null : `l${users.at(-1) ?? ''}`,
  }
}

async function compare(
  session: Session,
  { names, scale }: LedgerPlace,
  users: readonly string[],
  balances: ReadonlyMap<string, bigint>,
): Promise<WalletAudit[]> {
  if (users.length === 0) return []
  const list = users.map(() => '?').join(', ')
  const values = users.map(bytes)
  const totals = await session.read({
    sql: `select user_id, cast(sum(amount) as char) as total from ${names.table('ledger')}
where user_id in (${list}) and decision = 'booked' and imported = 0 group by user_id`,
    values,
  })
  const newest = await session.read({
    sql: `select l.user_id, cast(l.balance_after as char) as balance_after from ${names.table('ledger')} l
join (select max(id) as id from ${names.table('ledger')}
  where user_id in (${list}) and balance_after is not null group by user_id) m on m.id = l.id`,
    values,
  })
  const totalOf = new Map(totals.map((row) => [text(row['user_id']), minor(row['total'], scale)]))
  const lastOf = new Map(newest.map((row) => [text(row['user_id']), minor(row['balance_after'], scale)]))
  return users.map((user) => ({
    user,
    balance: balances.get(user) ?? null,
    ledgerTotal: totalOf.get(user) ?? 0n,
    lastBalanceAfter: lastOf.get(user) ?? null,
  }))
}

/** Entries whose balance after is not the one before plus their amount. */
export async function auditChains(
  session: Session,
  place: LedgerPlace,
  after: string | null,
  limit: number,
): Promise<AuditBatch<ChainBreak>> {
  const { names, scale } = place
  const users = await nextUsers(session, place, after, limit)
  if (users.length === 0) return { items: [], next: null }
  const rows = await session.read({
    sql: `select cast(id as char) as entry_id, user_id, network, transaction_id, entry, cast(amount as char) as amount,
  cast(balance_after as char) as balance_after, cast(balance_before as char) as balance_before
from (
  select id, user_id, network, transaction_id, entry, amount, balance_after,
    lag(balance_after) over (partition by user_id order by id) as balance_before
  from ${names.table('ledger')}
  where user_id in (${users.map(() => '?').join(', ')}) and balance_after is not null
) chain
where balance_before is not null and balance_before + amount <> balance_after
order by user_id, id`,
    values: users.map(bytes),
  })
  return {
    items: rows.map((row) => ({
      user: text(row['user_id']),
      entryId: text(row['entry_id']),
      network: text(row['network']),
      transactionId: text(row['transaction_id']),
      entry: text(row['entry']) as EntryKind,
      amount: minor(row['amount'], scale),
      balanceAfter: minor(row['balance_after'], scale),
      balanceBefore: minor(row['balance_before'], scale),
    })),
    next: users.length < limit ? null : (users.at(-1) ?? null),
  }
}

/** The ledger's users in byte order. A reversal that came without a user has the empty one, which owns nothing. */
async function nextUsers(
  session: Session,
  { names }: LedgerPlace,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await session.read({
    sql: `select distinct user_id from ${names.table('ledger')} where user_id > ? order by user_id limit ${limit}`,
    values: [bytes(after ?? '')],
  })
  return rows.map((row) => text(row['user_id']))
}

/** Reversals that contradict their credit, in batches of reversals. */
export async function auditPairs(
  session: Session,
  { names, scale }: LedgerPlace,
  after: string | null,
  limit: number,
): Promise<AuditBatch<PairFault>> {
  const start = after !== null && /^\d{1,19}$/.test(after) ? after : '0'
  const rows = await session.read({
    sql: `select cast(r.id as char) as id, r.network, r.transaction_id, r.user_id, r.decision,
  cast(r.amount as char) as amount, c.user_id as credit_user, cast(c.amount as char) as credit_amount
from (
  select * from ${names.table('ledger')} where id > ${start} and entry = 'reversal' order by id limit ${limit}
) r
left join ${names.table('ledger')} c
  on c.id_space = r.id_space and c.transaction_key = r.transaction_key and c.entry = 'credit'
order by r.id`,
    values: [],
  })
  const last = rows.at(-1)
  return {
    items: rows.flatMap((row) => pairFault(row, scale)),
    next: rows.length < limit || last === undefined ? null : text(last['id']),
  }
}

function pairFault(row: Row, scale: number): PairFault[] {
  const reversalAmount = minor(row['amount'], scale)
  const creditAmount = optionalMinor(row['credit_amount'], scale)
  const fault = faultOf(row, reversalAmount, creditAmount)
  if (fault === null) return []
  return [
    {
      entryId: text(row['id']),
      network: text(row['network']),
      transactionId: text(row['transaction_id']),
      user: text(row['user_id']),
      fault,
      creditAmount,
      reversalAmount,
    },
  ]
}

function faultOf(row: Row, reversalAmount: bigint, creditAmount: bigint | null): PairFault['fault'] | null {
  if (creditAmount === null) return 'reversal_without_credit'
  if (reversalAmount !== -creditAmount) return 'reversal_amount'
  if (text(row['user_id']) !== text(row['credit_user'])) return 'reversal_user'
  return text(row['decision']) === 'orphan' ? 'orphan' : null
}
