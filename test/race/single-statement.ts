/**
 * The write that must not be: one statement that locks the wallets, reads the ledger and writes both. Under READ
 * COMMITTED the lock gives it the newest wallet, but its view of the ledger is as old as the statement, so what was
 * committed while it waited stays unseen. Kept as the canary that the race test has to catch.
 *
 * @module
 */
import type pg from 'pg'
import type { GroupMember, MemberResult } from '../../src/ledger/group.js'
import type { GroupWriter } from './race.js'

const STATEMENT = `
with claim as (
  select * from unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::uuid[]) as c(k, entry, u, amount, postback)
), locked as (
  select user_id, balance from paidonce_wallets where user_id in (select u from claim) order by user_id for update
), stored as (
  select l.transaction_key as k, l.entry, l.amount, l.user_id from paidonce_ledger l join claim c on c.k = l.transaction_key
), planned as (
  select c.k, c.entry, c.u, c.postback,
    case when c.entry = 'credit' then c.amount else -coalesce((select s.amount from stored s where s.k = c.k and s.entry = 'credit'), 0) end as amount
  from claim c where not exists (select 1 from stored s where s.k = c.k and s.entry = c.entry)
), written as (
  insert into paidonce_ledger (id_space, transaction_key, entry, network, transaction_id, user_id, amount, balance_after, decision, postback_id)
  select 'n', p.k, p.entry, 'n', p.k, p.u, p.amount,
    (select balance from locked where user_id = p.u) + sum(p.amount) over (partition by p.u order by p.k), 'booked', p.postback
  from planned p order by p.k
  on conflict do nothing returning transaction_key, entry, user_id, amount
), paid as (
  update paidonce_wallets w set balance = w.balance + v.total
  from (select user_id, sum(amount) as total from written group by user_id) v where w.user_id = v.user_id returning 1
)
select transaction_key as k, entry from written`

export function singleStatementWriter(pool: pg.Pool): GroupWriter {
  return async (members) => {
    const claims = members.map(({ leader }) => leader.claim).filter((claim) => claim !== null)
    const { rows } = await pool.query<{ k: string; entry: string }>(STATEMENT, [
      claims.map((claim) => claim.transactionKey),
      claims.map((claim) => claim.entry),
      claims.map((claim) => claim.user),
      claims.map((claim) => Number(claim.amount) / 1_000),
      claims.map((claim) => claim.postbackId),
    ])
    const written = new Set(rows.map((row) => `${row.k} ${row.entry}`))
    return { kind: 'applied', results: members.map((member) => resultOf(member, written)) }
  }
}

function resultOf({ leader }: GroupMember, written: ReadonlySet<string>): MemberResult {
  const first = leader.claim !== null && written.has(`${leader.claim.transactionKey} ${leader.claim.entry}`)
  const outcome = leader.claim?.entry === 'credit' ? 'credited' : 'reversed'
  // Only what it says it booked is held against it; how it names the rest does not matter to the canary.
  return { kind: 'settled', leader: { outcome: first ? outcome : 'ignored', reason: null }, copies: [] }
}
