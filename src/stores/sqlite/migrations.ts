/**
 * The schema on SQLite. STRICT tables; TEXT compares byte for byte; amounts are integer minor units, times are integer
 * milliseconds UTC, booleans 0 or 1. The views turn them into what people read, by integer arithmetic alone.
 *
 * @module
 */
import type { Migration } from '../migrate.js'

/** A day number has 0.04 ms left at this size, so that the rounding is exact to the millisecond. */
export const NOW = "(cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer))"

const LIMIT = '9000000000000000000'

/** Every migration, oldest first. Append only. */
export const SQLITE_MIGRATIONS: readonly Migration[] = [
  {
    number: 1,
    title: 'ledger, wallets, postbacks, outbox, settings and the two public views',
    statements: (names, scale) => [
      `create table if not exists ${names.table('ledger')} (
  id integer primary key autoincrement,
  id_space text not null check (${bytesOf('id_space')} between 1 and 255),
  transaction_key text not null check (${bytesOf('transaction_key')} between 1 and 767),
  entry text not null check (entry in ('credit', 'reversal', 'withdrawal', 'withdrawal_return', 'adjustment')),
  network text not null,
  transaction_id text not null,
  user_id text not null,
  amount integer not null check (amount between -${LIMIT} and ${LIMIT}),
  balance_after integer check (balance_after between -${LIMIT} and ${LIMIT}),
  decision text not null check (decision in ('booked', 'tombstone', 'refused', 'orphan')),
  reason text,
  test integer not null default 0 check (test in (0, 1)),
  imported integer not null default 0 check (imported in (0, 1)),
  cleared integer not null default 0 check (cleared in (0, 1)),
  event_id text,
  offer text,
  payout text,
  received_amount text,
  unit text,
  rate text,
  actor text,
  postback_id text,
  created_at integer not null default ${NOW},
  constraint ${names.index('ledger_key')} unique (id_space, transaction_key, entry)
) strict`,
      `create index if not exists ${names.index('ledger_user')} on ${names.table('ledger')} (user_id, id)`,
      `create index if not exists ${names.index('ledger_transaction')} on ${names.table('ledger')} (transaction_id, id_space)`,
      `create index if not exists ${names.index('ledger_tests')} on ${names.table('ledger')} (id) where test = 1 and cleared = 0`,
      `create table if not exists ${names.table('wallets')} (
  user_id text not null primary key check (${bytesOf('user_id')} between 1 and 255),
  balance integer not null default 0 check (balance between -${LIMIT} and ${LIMIT}),
  created_at integer not null default ${NOW}
) strict, without rowid`,
      `create table if not exists ${names.table('postbacks')} (
  id text not null primary key,
  network text not null,
  received_at integer not null,
  method text not null,
  url blob not null,
  headers text not null,
  body blob not null,
  ip text not null,
  outcome text not null,
  reason text,
  verified integer not null check (verified in (0, 1)),
  test integer not null check (test in (0, 1)),
  transaction_id text,
  id_space text,
  transaction_key text,
  entry text,
  user_id text,
  amount integer check (amount between -${LIMIT} and ${LIMIT}),
  answer_status integer not null,
  answer_body text not null,
  milliseconds integer not null,
  open integer not null check (open in (0, 1)),
  resolved_reason text
) strict`,
      `create index if not exists ${names.index('postbacks_transaction')} on ${names.table('postbacks')} (transaction_id)`,
      `create index if not exists ${names.index('postbacks_user')} on ${names.table('postbacks')} (user_id, id)`,
      `create index if not exists ${names.index('postbacks_open')} on ${names.table('postbacks')} (id) where open = 1`,
      `create index if not exists ${names.index('postbacks_rejected')} on ${names.table('postbacks')} (id) where verified = 0`,
      `create table if not exists ${names.table('outbox')} (
  id integer primary key autoincrement,
  event text not null,
  id_space text not null,
  transaction_key text not null,
  entry text not null,
  user_id text not null,
  created_at integer not null default ${NOW}
) strict`,
      `create table if not exists ${names.table('settings')} (
  name text not null primary key,
  value text not null
) strict`,
      `create view if not exists ${names.table('v_entries')} as
select id, network, transaction_id, entry, user_id as "user", ${decimalOf('amount', scale)} as amount,
  ${decimalOf('balance_after', scale)} as balance_after, decision, reason, test, imported, cleared, event_id, offer,
  payout, received_amount, unit, rate, actor, postback_id, id_space, transaction_key,
  ${timeOf('created_at')} as created_at
from ${names.table('ledger')}`,
      `create view if not exists ${names.table('v_postbacks')} as
select p.id, p.network, ${timeOf('p.received_at')} as received_at, p.method, cast(p.url as text) as url, p.ip, p.outcome,
  p.reason, p.verified, p.test, p.transaction_id, p.entry, p.user_id as "user",
  ${decimalOf('p.amount', scale)} as amount, p.answer_status, p.answer_body, p.milliseconds, p.resolved_reason,
  p.open = 1 and not exists (
    select 1 from ${names.table('ledger')} l
    where l.id_space = p.id_space and l.transaction_key = p.transaction_key and l.entry = p.entry
      and p.outcome in ('unknown_user', 'held')
  ) as open
from ${names.table('postbacks')} p`,
    ],
  },
  {
    number: 2,
    title: 'indexes that serve every list of a long inbox, and cost a credit less',
    statements: (names) => [
      // One place to append for each class.
      `create index if not exists ${names.index('postbacks_class')} on ${names.table('postbacks')} (network, outcome, open, id)`,
      // The first five digits of an id are a period of 3.1 days: what is written falls into the newest one only.
      `create index if not exists ${names.index('postbacks_period_user')} on ${names.table('postbacks')} (substr(id, 1, 5), user_id, id)`,
      `create index if not exists ${names.index('postbacks_period_transaction')} on ${names.table('postbacks')} (substr(id, 1, 5), transaction_id, id)`,
      // Nearly every transaction key is the transaction id, and the ledger's unique key finds those.
      `create index if not exists ${names.index('ledger_other_id')} on ${names.table('ledger')} (transaction_id, id_space) where transaction_id <> transaction_key`,
      `drop index if exists ${names.index('postbacks_transaction')}`,
      `drop index if exists ${names.index('postbacks_user')}`,
      `drop index if exists ${names.index('postbacks_open')}`,
      `drop index if exists ${names.index('ledger_transaction')}`,
    ],
  },
  {
    number: 3,
    title: 'indexes of the inbox without the rows that the ledger leads to',
    statements: (names) => [
      // Every credited row has an entry of its user and its transaction.
      `drop index if exists ${names.index('postbacks_period_user')}`,
      `drop index if exists ${names.index('postbacks_period_transaction')}`,
      `create index if not exists ${names.index('postbacks_other_user')} on ${names.table('postbacks')} (substr(id, 1, 5), user_id, id) where outcome <> 'credited'`,
      `create index if not exists ${names.index('postbacks_other_transaction')} on ${names.table('postbacks')} (substr(id, 1, 5), transaction_id, id) where outcome <> 'credited'`,
      // With the id of the row, so that thousands of entries of one user are not looked up one by one.
      `create index if not exists ${names.index('ledger_user_rows')} on ${names.table('ledger')} (user_id, id, postback_id)`,
      `drop index if exists ${names.index('ledger_user')}`,
    ],
  },
]

/** The length in bytes; length() alone counts characters. */
function bytesOf(column: string): string {
  return `length(cast(${column} as blob))`
}

/** Integer minor units as decimal text with the full scale. The sign is put apart, since -5 / 1000 is 0. */
function decimalOf(column: string, scale: number): string {
  if (scale === 0) return `cast(${column} as text)`
  const unit = (10n ** BigInt(scale)).toString()
  return (
    `case when ${column} < 0 then '-' else '' end || (abs(${column}) / ${unit}) || '.' ` +
    `|| printf('%0${scale}d', abs(${column}) % ${unit})`
  )
}

/** Integer milliseconds as RFC 3339 in UTC. */
function timeOf(column: string): string {
  return `strftime('%Y-%m-%dT%H:%M:%S', ${column} / 1000, 'unixepoch') || printf('.%03dZ', ${column} % 1000)`
}
