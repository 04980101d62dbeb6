/**
 * The statements of one group, in the order in which they run.
 *
 * @module
 */
import type { TableNames } from '../table-names.js'
import { STORED_SELECT } from './rows.js'
import type { BatchStatement } from './batch.js'
import { statement, type Statement } from './session.js'
import type { WalletSql } from './wallet-table.js'
import { keepStatement, writeStatement } from './write-statement.js'

/**
 * How long a group waits for an uncommitted key or wallet of somebody else where it does not mean to wait: long enough for
 * a transaction that is about to commit, and short, because all its other claims wait with it.
 */
export const LOCK_TIMEOUT_MS = 15

/**
 * How long a transaction may stand idle before the server ends it. A receiver that freezes between its writes and its
 * COMMIT would otherwise hold its wallets' locks until somebody ends the process.
 */
export const IDLE_TIMEOUT_MS = 10_000

/**
 * Warnings must come through, because one of them tells that COMMIT did not wait for its standby.
 *
 * With generic plans, and with joins by hash and merge and sequential scans off, the plan of a named statement that was
 * made on a fresh, small wallet table is made once and stays right when the table has grown.
 */
const GROUP_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
  client_min_messages: 'warning',
  idle_in_transaction_session_timeout: String(IDLE_TIMEOUT_MS),
}

export interface GroupStatements {
  /** `$1` id spaces, `$2` transaction keys: the stored credits and reversals. */
  readonly read: Statement
  /** `$1` users: makes the wallets that do not exist. Own wallets only. */
  readonly createWallets: Statement
  /** Everything that a group writes; answers how many entries and balances it wrote. */
  readonly write: Statement
  /** The same for rows that are all new and wallets that nobody has looked at; fails where they are not as guessed. */
  readonly writeNew: Statement
  /** The same for one entry and one inbox row. */
  readonly writeSingle: Statement
  /** The same with credits that nobody has looked up either. */
  readonly writeKnown: Statement
  /** Inbox rows alone, with such credits. */
  readonly keepRows: Statement
}

export function groupStatements(
  names: TableNames,
  wallets: WalletSql,
  scale: number,
  outbox: boolean,
): GroupStatements {
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
    write: writeStatement(names, wallets, { scale, outbox, kind: 'merge' }),
    writeNew: writeStatement(names, wallets, { scale, outbox, kind: 'new' }),
    writeSingle: writeStatement(names, wallets, { scale, outbox, kind: 'single' }),
    writeKnown: writeStatement(names, wallets, { scale, outbox, kind: 'known' }),
    keepRows: keepStatement(names),
  }
}

/**
 * Opens the transaction in one round trip. Isolation and time-out are set inside it, so that a pooler can pass the
 * connection on, and an operator's default cannot change what the rule rests on.
 */
export function beginGroup(isolation: 'read committed' | 'serializable', lockTimeoutMs: number): string {
  const settings = Object.entries(GROUP_SETTINGS).map(([name, value]) => `set local ${name} = ${value}`)
  return [`begin isolation level ${isolation}`, setLockTimeout(lockTimeoutMs), ...settings].join('; ')
}

/** The same for a group that is sent as a whole: two statements that a connection knows by name. */
export function openGroup(
  isolation: 'read committed' | 'serializable',
  lockTimeoutMs: number,
): readonly BatchStatement[] {
  return [
    { ...BEGIN[isolation], values: [] },
    { ...SETTINGS, values: [String(lockTimeoutMs)] },
  ]
}

const BEGIN = {
  'read committed': statement('begin isolation level read committed'),
  serializable: statement('begin isolation level serializable'),
}

/** A setting is local to the transaction where the third argument is true. */
const SETTINGS = statement(`select set_config('lock_timeout', $1, true),
${Object.entries(GROUP_SETTINGS)
  .map(([name, value]) => `set_config('${name}', '${value}', true)`)
  .join(', ')}`)

/** Changes the time-out of locks within the transaction. */
export function setLockTimeout(milliseconds: number): string {
  return `set local lock_timeout = ${Math.max(1, Math.round(milliseconds))}`
}
