/**
 * The statements of one group, in the order in which they run.
 *
 * @module
 */
import type { EntryRow } from '../../ledger/types.js'
import type { WalletChange } from '../../ledger/group.js'
import type { PostbackRow } from '../../ledger/postback-row.js'
import { formatMinor } from '../../money.js'
import type { TableNames } from '../table-names.js'
import { columnArrays, ENTRY_COLUMNS, POSTBACK_COLUMNS, STORED_SELECT, unnestOf } from './rows.js'
import { statement, type Statement } from './session.js'
import type { WalletSql } from './wallet-table.js'

/** How long a group waits for an uncommitted key or wallet of somebody else where it does not mean to wait. */
export const LOCK_TIMEOUT_MS = 200

/**
 * How long a transaction may stand idle before the server ends it. A receiver that freezes between its writes and its
 * COMMIT would otherwise hold its wallets' locks until somebody ends the process.
 */
export const IDLE_TIMEOUT_MS = 10_000

export interface GroupStatements {
  /** `$1` id spaces, `$2` transaction keys: the stored credits and reversals. */
  readonly read: Statement
  /** `$1` users: makes the wallets that do not exist. Own wallets only. */
  readonly createWallets: Statement
  /** Everything that a group writes; answers how many entries and balances it wrote. */
  readonly write: Statement
}

export function groupStatements(names: TableNames, wallets: WalletSql, outbox: boolean): GroupStatements {
  const entryNames = ENTRY_COLUMNS.map(({ name }) => name).join(', ')
  const postbackNames = POSTBACK_COLUMNS.map(({ name }) => name).join(', ')
  const first = { entries: 1, changes: ENTRY_COLUMNS.length + 1, rows: ENTRY_COLUMNS.length + 4 }
  return {
    // A look-up for each key by LATERAL and LIMIT: "= any" in a named statement that was planned on the empty table
    // goes on scanning it while it grows.
    read: statement(`select k.id_space, k.transaction_key, l.*
from unnest($1::text[], $2::text[]) as k(id_space, transaction_key)
cross join lateral (
  select ${STORED_SELECT} from ${names.table('ledger')} l
  where l.id_space = k.id_space and l.transaction_key = k.transaction_key and l.entry in ('credit', 'reversal')
  limit 2
) l`),
    createWallets: statement(`insert into ${names.table('wallets')} (user_id)
select u.user_id from unnest($1::text[]) with ordinality as u(user_id, place) order by u.place
on conflict (user_id) do nothing`),
    // The names of the parts are long, because a publisher's table of the same name would be hidden by them.
    // ON CONFLICT DO NOTHING waits for an uncommitted entry of the same key and then inserts nothing: the count tells.
    write: statement(`with paidonce__booked as (
  insert into ${names.table('ledger')} (${entryNames})
  select ${entryNames} from ${unnestOf(ENTRY_COLUMNS, first.entries)} with ordinality as e(${entryNames}, place)
  order by place
  on conflict (id_space, transaction_key, entry) do nothing
  returning id, id_space, transaction_key, entry, user_id, amount, imported
), paidonce__changed as (
  ${wallets.add(first.changes, first.changes + 1, first.changes + 2)}
)${
      outbox
        ? `, paidonce__messages as (
  insert into ${names.table('outbox')} (event, id_space, transaction_key, entry, user_id)
  select entry || '.booked', id_space, transaction_key, entry, user_id
  from paidonce__booked where amount <> 0 and not imported order by id
)`
        : ''
    }, paidonce__kept as (
  insert into ${names.table('postbacks')} as p (${postbackNames})
  select ${postbackNames} from ${unnestOf(POSTBACK_COLUMNS, first.rows)} as r(${postbackNames})
  on conflict (id) do update set ${REWRITTEN.map((name) => `${name} = excluded.${name}`).join(', ')},
    open = excluded.open and p.resolved_reason is null
)
select (select count(*) from paidonce__booked)::text as entries, (select count(*) from paidonce__changed)::text as changes`),
  }
}

/**
 * What a second run of the same postback (after a lost reply, or by reprocessing) may change of its inbox row; `open`
 * beside it, because what a person has closed stays closed.
 */
const REWRITTEN = [
  'outcome',
  'reason',
  'verified',
  'test',
  'transaction_id',
  'id_space',
  'transaction_key',
  'entry',
  'user_id',
  'amount',
  'answer_status',
  'answer_body',
  'milliseconds',
] as const

/**
 * Opens the transaction in one round trip. Isolation and time-out are set inside it, so that a pooler can pass the
 * connection on, and an operator's default cannot change what the rule rests on.
 *
 * Warnings must come through, because one of them tells that COMMIT did not wait for its standby.
 *
 * With joins by hash and merge and with sequential scans off, the plan of the named write statement that was made on a
 * fresh, small wallet table stays right when the table has grown.
 */
export function beginGroup(isolation: 'read committed' | 'serializable', lockTimeoutMs: number): string {
  return `begin isolation level ${isolation}; ${setLockTimeout(lockTimeoutMs)}; \
set local enable_hashjoin = off; set local enable_mergejoin = off; set local enable_seqscan = off; \
set local client_min_messages = warning; set local idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}`
}

/** Changes the time-out of locks within the transaction. */
export function setLockTimeout(milliseconds: number): string {
  return `set local lock_timeout = ${Math.max(1, Math.round(milliseconds))}`
}

/** The values of `write`. */
export function writeValues(
  plan: {
    readonly entries: readonly EntryRow[]
    readonly changes: readonly WalletChange[]
    readonly rows: readonly PostbackRow[]
  },
  wallets: WalletSql,
  scale: number,
): unknown[] {
  const users = plan.changes.map(({ user }) => user)
  return [
    ...columnArrays(ENTRY_COLUMNS, plan.entries, scale),
    users,
    wallets.keysOf(users),
    plan.changes.map(({ amount }) => formatMinor(amount, scale)),
    ...columnArrays(POSTBACK_COLUMNS, plan.rows, scale),
  ]
}
