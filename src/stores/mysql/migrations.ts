/**
 * The schema on MySQL and MariaDB. Ids are VARBINARY, the one type that both compare byte for byte without padding;
 * amounts are exact decimals; everything stays within InnoDB's 3,072 bytes of index key.
 *
 * @module
 */
import type { Migration } from '../migrate.js'
import type { TableNames } from '../table-names.js'

const ID = 'varbinary(255)'
const KEY = 'varbinary(767)'
const WORD = 'varchar(32) character set ascii collate ascii_bin'
const TEXT = 'text character set utf8mb4'
const TABLE = 'engine = InnoDB row_format = dynamic default character set = utf8mb4'

/**
 * Every migration, oldest first. Append only. DDL commits by itself here, so each statement can run again: a table is
 * made if it does not exist; an ALTER adds a column of its own and is done as a whole or not at all, and an index is
 * dropped alone, so that the migrator takes "this column exists" and "there is no such index" for done.
 */
export const MYSQL_MIGRATIONS: readonly Migration[] = [
  {
    number: 1,
    title: 'ledger, wallets, postbacks, outbox, settings and the two public views',
    statements: (names, scale) => [
      `create table if not exists ${names.table('ledger')} (
  id bigint not null auto_increment,
  id_space ${ID} not null,
  transaction_key ${KEY} not null,
  entry ${WORD} not null,
  network ${ID} not null,
  transaction_id ${ID} not null,
  user_id ${ID} not null,
  amount decimal(19, ${scale}) not null,
  balance_after decimal(19, ${scale}),
  decision ${WORD} not null,
  reason ${TEXT},
  test tinyint not null default 0,
  imported tinyint not null default 0,
  cleared tinyint not null default 0,
  event_id ${ID},
  offer ${TEXT},
  payout ${TEXT},
  received_amount ${TEXT},
  unit ${TEXT},
  rate ${TEXT},
  actor ${TEXT},
  postback_id binary(16),
  created_at datetime(3) not null,
  primary key (id),
  unique key ${names.index('ledger_key')} (id_space, transaction_key, entry),
  key ${names.index('ledger_user')} (user_id, id),
  key ${names.index('ledger_transaction')} (transaction_id, id_space),
  key ${names.index('ledger_tests')} (test, cleared, id),
  check (octet_length(id_space) > 0 and octet_length(transaction_key) > 0),
  check (entry in ('credit', 'reversal', 'withdrawal', 'withdrawal_return', 'adjustment')),
  check (decision in ('booked', 'tombstone', 'refused', 'orphan'))
) ${TABLE}`,
      `create table if not exists ${names.table('wallets')} (
  user_id ${ID} not null,
  balance decimal(19, ${scale}) not null default 0,
  created_at datetime(3) not null,
  primary key (user_id),
  check (octet_length(user_id) > 0)
) ${TABLE}`,
      `create table if not exists ${names.table('postbacks')} (
  id binary(16) not null,
  network varbinary(1024) not null,
  received_at datetime(3) not null,
  method ${TEXT} not null,
  url mediumblob not null,
  headers mediumtext character set utf8mb4 not null,
  body mediumblob not null,
  ip varchar(255) character set ascii collate ascii_bin not null,
  outcome ${WORD} not null,
  reason ${TEXT},
  verified tinyint not null,
  test tinyint not null,
  transaction_id ${ID},
  id_space ${ID},
  transaction_key ${KEY},
  entry ${WORD},
  user_id ${ID},
  amount decimal(19, ${scale}),
  answer_status smallint not null,
  answer_body ${TEXT} not null,
  milliseconds int not null,
  open tinyint not null,
  resolved_reason ${TEXT},
  primary key (id),
  key ${names.index('postbacks_transaction')} (transaction_id),
  key ${names.index('postbacks_user')} (user_id, id),
  key ${names.index('postbacks_open')} (open, id),
  key ${names.index('postbacks_verified')} (verified, id)
) ${TABLE}`,
      `create table if not exists ${names.table('outbox')} (
  id bigint not null auto_increment,
  event varchar(64) character set ascii collate ascii_bin not null,
  id_space ${ID} not null,
  transaction_key ${KEY} not null,
  entry ${WORD} not null,
  user_id ${ID} not null,
  created_at datetime(3) not null,
  primary key (id)
) ${TABLE}`,
      `create table if not exists ${names.table('settings')} (
  name varchar(64) character set ascii collate ascii_bin not null,
  value mediumtext character set utf8mb4 not null,
  primary key (name)
) ${TABLE}`,
      `create or replace view ${names.table('v_entries')} as
select id, ${asText('network')}, ${asText('transaction_id')}, entry, ${asText('user_id', '`user`')}, amount, balance_after,
  decision, reason, test, imported, cleared, ${asText('event_id')}, offer, payout, received_amount, unit, rate, actor,
  ${uuidAsText('postback_id')}, ${asText('id_space')}, ${asText('transaction_key')}, created_at
from ${names.table('ledger')}`,
      `create or replace view ${names.table('v_postbacks')} as
select ${uuidAsText('id', 'p.')}, ${asText('network', 'network', 'p.')}, p.received_at, p.method,
  convert(p.url using latin1) as url, p.ip, p.outcome, p.reason, p.verified, p.test,
  ${asText('transaction_id', 'transaction_id', 'p.')}, p.entry, ${asText('user_id', '`user`', 'p.')}, p.amount,
  p.answer_status, p.answer_body, p.milliseconds, p.resolved_reason, ${openExpression(names)} as open
from ${names.table('postbacks')} p`,
    ],
  },
  {
    number: 2,
    title: 'indexes that serve every list of a long inbox, and cost a credit less',
    statements: (names) => [
      // One place to append for each class. The first five hexadecimal digits of an id are a period of 3.1 days: what
      // is written falls into the newest one only.
      `alter table ${names.table('postbacks')}
  add column ${names.quote('period')} mediumint unsigned
    generated always as (conv(hex(left(id, 3)), 16, 10) div 16) stored,
  add key ${names.index('postbacks_class')} (network, outcome, open, id),
  add key ${names.index('postbacks_period_user')} (${names.quote('period')}, user_id, id),
  add key ${names.index('postbacks_period_transaction')} (${names.quote('period')}, transaction_id, id)`,
      // Nearly every transaction key is the transaction id, and the unique key finds those: the others alone are kept
      // here, and every NULL is appended at one place.
      `alter table ${names.table('ledger')}
  add column other_id varbinary(255)
    generated always as (if(transaction_id = transaction_key, null, transaction_id)) stored,
  add key ${names.index('ledger_other_id')} (other_id, id)`,
      ...['postbacks_transaction', 'postbacks_user', 'postbacks_open'].map(
        (key) => `drop index ${names.index(key)} on ${names.table('postbacks')}`,
      ),
      `drop index ${names.index('ledger_transaction')} on ${names.table('ledger')}`,
    ],
  },
  {
    number: 3,
    title: 'indexes of the inbox without the rows that the ledger leads to',
    statements: (names) => [
      // Every credited row has an entry of its user and its transaction: here it is a NULL, and those are appended at one
      // place of each period.
      `alter table ${names.table('postbacks')}
  add column other_user varbinary(255) generated always as (if(outcome = 'credited', null, user_id)) stored,
  add column other_transaction varbinary(255)
    generated always as (if(outcome = 'credited', null, transaction_id)) stored,
  drop key ${names.index('postbacks_period_user')},
  drop key ${names.index('postbacks_period_transaction')},
  add key ${names.index('postbacks_other_user')} (${names.quote('period')}, other_user, id),
  add key ${names.index('postbacks_other_transaction')} (${names.quote('period')}, other_transaction, id)`,
      // With the id of the row, so that thousands of entries of one user are not looked up one by one.
      `alter table ${names.table('ledger')}
  drop key ${names.index('ledger_user')},
  add key ${names.index('ledger_user_rows')} (user_id, id, postback_id)`,
    ],
  },
]

/**
 * Whether the inbox row `p` still waits: a ledger entry of its key closes what could not be booked when it came. One
 * text, so that the view, the lists and the clean-up agree.
 */
export function openExpression(names: TableNames): string {
  return `(p.open = 1 and not (p.outcome in ('unknown_user', 'held') and exists (
    select 1 from ${names.table('ledger')} l
    where l.id_space = p.id_space and l.transaction_key = p.transaction_key and l.entry = p.entry
  )))`
}

function asText(column: string, name = column, row = ''): string {
  return `convert(${row}${column} using utf8mb4) as ${name}`
}

function uuidAsText(column: string, row = ''): string {
  const digits = `hex(${row}${column})`
  const parts = [
    `left(${digits}, 8)`,
    ...[9, 13, 17].map((from) => `substr(${digits}, ${from}, 4)`),
    `right(${digits}, 12)`,
  ]
  // concat, not concat_ws: a missing id stays null instead of becoming an empty text.
  return `lower(concat(${parts.join(`, '-', `)})) as ${column}`
}
