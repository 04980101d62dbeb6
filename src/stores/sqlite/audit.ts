/**
 * The audit's three questions, in bounded batches, all of them on the reader.
 *
 * @module
 */
import type { AuditBatch, ChainBreak, PairFault, WalletAudit } from '../../ledger/store.js'
import type { EntryKind } from '../../ledger/types.js'
import type { SqliteContext } from './context.js'
import type { SqlRow, SqlValue } from './driver.js'
import { ledgerIdOf } from './pages.js'
import { readInteger, readIntegerOrNull, readText, readTextOrNull } from './rows.js'

/** Wallets and users of the ledger together, in byte order; each half gives at most a batch. */
export async function auditWallets(
  { reader, names, wallets }: SqliteContext,
  after: string | null,
  limit: number,
): Promise<AuditBatch<WalletAudit>> {
  const { table, balance, user, usable } = wallets()
  const ledger = names.table('ledger')
  const rows = await reader.all(
    // No WITH: its name could be the one of the publisher's table.
    `select u.user_id, u.balance,
  (select coalesce(sum(l.amount), 0) from ${ledger} l
    where l.user_id = u.user_id and l.decision = 'booked' and l.imported = 0) as total,
  (select l.balance_after from ${ledger} l
    where l.user_id = u.user_id and l.balance_after is not null order by l.id desc limit 1) as last
from (
  select user_id, max(balance) as balance from (
    select * from (
      select ${user} as user_id, ${balance} as balance from ${table}
      where ${usable} and ${user} > ? order by ${user} limit ?
    ) union all select * from (
      select distinct user_id, null from ${ledger} where user_id > ? order by user_id limit ?
    )
  ) group by user_id order by user_id limit ?
) u order by u.user_id`,
    // The empty user is that of reversals without a credit, which never moved a balance.
    [after ?? '', BigInt(limit), after ?? '', BigInt(limit), BigInt(limit)],
  )
  const items = rows.map((row) => ({
    user: readText(row, 'user_id'),
    balance: readIntegerOrNull(row, 'balance'),
    ledgerTotal: readInteger(row, 'total'),
    lastBalanceAfter: readIntegerOrNull(row, 'last'),
  }))
  return { items, next: rows.length < limit ? null : (items.at(-1)?.user ?? null) }
}

export async function auditChains(
  { reader, names }: SqliteContext,
  after: string | null,
  limit: number,
): Promise<AuditBatch<ChainBreak>> {
  const ledger = names.table('ledger')
  const users = await reader.all(
    `select distinct user_id from ${ledger} where user_id > ? order by user_id limit ?`,
    [after ?? '', BigInt(limit)],
  )
  const last = users.at(-1)
  if (last === undefined) return { items: [], next: null }
  const until = readText(last, 'user_id')
  const rows = await reader.all(
    `select * from (
  select id, user_id, network, transaction_id, entry, amount, balance_after,
    lag(balance_after) over (partition by user_id order by id) as balance_before
  from ${ledger} where user_id > ? and user_id <= ? and balance_after is not null
) where balance_after - amount <> balance_before order by user_id, id`,
    [after ?? '', until],
  )
  return { items: rows.map(chainBreak), next: users.length < limit ? null : until }
}

export async function auditPairs(
  { reader, names }: SqliteContext,
  after: string | null,
  limit: number,
): Promise<AuditBatch<PairFault>> {
  const ledger = names.table('ledger')
  const values: SqlValue[] = [after === null ? 0n : ledgerIdOf(after), BigInt(limit)]
  const rows = await reader.all(
    `select r.id, r.network, r.transaction_id, r.user_id, r.amount, r.decision,
  c.amount as credit_amount, c.user_id as credit_user
from (select * from ${ledger} where entry = 'reversal' and id > ? order by id limit ?) r
left join ${ledger} c
  on c.id_space = r.id_space and c.transaction_key = r.transaction_key and c.entry = 'credit'
order by r.id`,
    values,
  )
  const last = rows.at(-1)
  const next = last === undefined || rows.length < limit ? null : readInteger(last, 'id').toString()
  return { items: rows.flatMap(pairFaults), next }
}

function chainBreak(row: SqlRow): ChainBreak {
  return {
    user: readText(row, 'user_id'),
    entryId: readInteger(row, 'id').toString(),
    network: readText(row, 'network'),
    transactionId: readText(row, 'transaction_id'),
    entry: readText(row, 'entry') as EntryKind,
    amount: readInteger(row, 'amount'),
    balanceAfter: readInteger(row, 'balance_after'),
    balanceBefore: readInteger(row, 'balance_before'),
  }
}

function pairFaults(row: SqlRow): PairFault[] {
  const creditAmount = readIntegerOrNull(row, 'credit_amount')
  const reversalAmount = readInteger(row, 'amount')
  const fault = pairFaultOf(row, creditAmount, reversalAmount)
  if (fault === null) return []
  return [
    {
      entryId: readInteger(row, 'id').toString(),
      network: readText(row, 'network'),
      transactionId: readText(row, 'transaction_id'),
      user: readText(row, 'user_id'),
      fault,
      creditAmount,
      reversalAmount,
    },
  ]
}

function pairFaultOf(
  row: SqlRow,
  creditAmount: bigint | null,
  reversalAmount: bigint,
): PairFault['fault'] | null {
  if (creditAmount === null) return 'reversal_without_credit'
  if (reversalAmount !== -creditAmount) return 'reversal_amount'
  if (readText(row, 'user_id') !== readTextOrNull(row, 'credit_user')) return 'reversal_user'
  return readText(row, 'decision') === 'orphan' ? 'orphan' : null
}
