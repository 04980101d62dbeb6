/**
 * The audit's questions, each in bounded batches.
 *
 * @module
 */
import type { AuditBatch, ChainBreak, PairFault, WalletAudit } from '../../ledger/store.js'
import type { EntryKind } from '../../ledger/types.js'
import type { PostgresContext } from './context.js'
import type { TextRow } from './driver.js'
import { checkCursor } from './pages.js'
import { maybe, maybeAmount, need, readAmount } from './rows.js'

/** Entries that changed a balance which Paidonce answers for. */
const MOVED = `l.decision = 'booked' and not l.imported`

export async function auditWallets(
  context: PostgresContext,
  after: string | null,
  limit: number,
): Promise<AuditBatch<WalletAudit>> {
  const { relation } = await context.wallets()
  const ledger = context.names.table('ledger')
  const rows = await context.sessions((session) =>
    session.runOnce(
      'read',
      `with paidonce__users as (
  (select w.user_id from ${relation} w where w.user_id > coalesce($1, '') order by w.user_id limit $2)
  union
  (select distinct l.user_id from ${ledger} l where l.user_id > coalesce($1, '') order by l.user_id limit $2)
  order by user_id limit $2
)
select u.user_id, w.minor, t.total, n.balance_after
from paidonce__users u
left join ${relation} w on w.user_id = u.user_id
cross join lateral (
  select coalesce(sum(l.amount), 0)::text as total from ${ledger} l where l.user_id = u.user_id and ${MOVED}
) t
left join lateral (
  select l.balance_after::text as balance_after from ${ledger} l
  where l.user_id = u.user_id and ${MOVED} and l.balance_after is not null order by l.id desc limit 1
) n on true
order by u.user_id`,
      [after, limit],
    ),
  )
  const items = rows.map((row) => ({
    user: need(row, 'user_id'),
    balance: row['minor'] === null || row['minor'] === undefined ? null : BigInt(row['minor']),
    ledgerTotal: readAmount(need(row, 'total'), context.scale),
    lastBalanceAfter: maybeAmount(row, 'balance_after', context.scale),
  }))
  return { items, next: items.length < limit ? null : (items.at(-1)?.user ?? null) }
}

export async function auditChains(
  { sessions, names, scale }: PostgresContext,
  after: string | null,
  limit: number,
): Promise<AuditBatch<ChainBreak>> {
  const ledger = names.table('ledger')
  const rows = await sessions((session) =>
    session.runOnce(
      'read',
      `with paidonce__users as (
  select distinct l.user_id from ${ledger} l where l.user_id > coalesce($1, '') order by l.user_id limit $2
), chain as (
  select l.id, l.user_id, l.network, l.transaction_id, l.entry, l.amount, l.balance_after,
    lag(l.balance_after) over (partition by l.user_id order by l.id) as balance_before
  from paidonce__users u join ${ledger} l on l.user_id = u.user_id
  where ${MOVED} and l.balance_after is not null
)
select c.id::text as id, c.user_id, c.network, c.transaction_id, c.entry, c.amount::text as amount,
  c.balance_after::text as balance_after, c.balance_before::text as balance_before, b.last_user, b.users
from (select max(user_id) as last_user, count(*)::text as users from paidonce__users) b
left join chain c on c.balance_before + c.amount <> c.balance_after
order by c.user_id, c.id`,
      [after, limit],
    ),
  )
  const [first] = rows
  const items = rows.filter((row) => maybe(row, 'id') !== null).map((row) => readBreak(row, scale))
  const full = first !== undefined && Number(need(first, 'users')) === limit
  return { items, next: full ? maybe(first, 'last_user') : null }
}

function readBreak(row: TextRow, scale: number): ChainBreak {
  return {
    user: need(row, 'user_id'),
    entryId: need(row, 'id'),
    network: need(row, 'network'),
    transactionId: need(row, 'transaction_id'),
    entry: need(row, 'entry') as EntryKind,
    amount: readAmount(need(row, 'amount'), scale),
    balanceAfter: readAmount(need(row, 'balance_after'), scale),
    balanceBefore: readAmount(need(row, 'balance_before'), scale),
  }
}

export async function auditPairs(
  { sessions, names, scale }: PostgresContext,
  after: string | null,
  limit: number,
): Promise<AuditBatch<PairFault>> {
  const ledger = names.table('ledger')
  const rows = await sessions((session) =>
    session.runOnce(
      'read',
      // The batch is cut by id before reversals are picked, so that a batch reads a bounded number of rows.
      `with paidonce__batch as (
  select l.* from ${ledger} l where l.id > coalesce($1::bigint, 0) order by l.id limit $2
)
select r.id::text as id, r.network, r.transaction_id, r.user_id, r.decision, r.amount::text as amount, r.entry,
  c.amount::text as credit_amount, c.user_id as credit_user
from paidonce__batch r
left join ${ledger} c on r.entry = 'reversal'
  and c.id_space = r.id_space and c.transaction_key = r.transaction_key and c.entry = 'credit'
order by r.id`,
      [checkCursor(after, 'number'), limit],
    ),
  )
  const items = rows
    .filter((row) => row['entry'] === 'reversal')
    .flatMap((row) => {
      const fault = pairFault(row, scale)
      return fault === null ? [] : [fault]
    })
  return { items, next: rows.length < limit ? null : need(rows.at(-1) ?? {}, 'id') }
}

function pairFault(row: TextRow, scale: number): PairFault | null {
  const reversalAmount = readAmount(need(row, 'amount'), scale)
  const creditAmount = maybeAmount(row, 'credit_amount', scale)
  const fault = faultOf(row, creditAmount, reversalAmount)
  if (fault === null) return null
  return {
    entryId: need(row, 'id'),
    network: need(row, 'network'),
    transactionId: need(row, 'transaction_id'),
    user: need(row, 'user_id'),
    fault,
    creditAmount,
    reversalAmount,
  }
}

function faultOf(row: TextRow, credit: bigint | null, reversal: bigint): PairFault['fault'] | null {
  if (credit === null) return 'reversal_without_credit'
  if (reversal !== -credit) return 'reversal_amount'
  if (row['credit_user'] !== row['user_id']) return 'reversal_user'
  return row['decision'] === 'orphan' ? 'orphan' : null
}
