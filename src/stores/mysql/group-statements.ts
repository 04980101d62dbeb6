/**
 * The statements of a group's transaction, and of everything else that writes entries, messages and inbox rows.
 *
 * @module
 */
import type { PostbackRow } from '../../ledger/postback-row.js'
import type { EntryRow } from '../../ledger/types.js'
import { ipText, methodText } from '../call-text.js'
import type { TableNames } from '../table-names.js'
import {
  bytes,
  datetime,
  decimal,
  flag,
  optionalBytes,
  optionalDecimal,
  rawBytes,
  requiredUuid,
  STORED_COLUMNS,
} from './rows.js'
import type { SqlValue, Statement } from './driver.js'

/** Rows for one statement; a group is smaller, only its waiting copies can be more. */
const ROWS_AT_ONCE = 500

/** Bytes of raw calls for one statement; written as hexadecimal it doubles, and the server takes 16 MiB or more. */
const BYTES_AT_ONCE = 2 * 1024 * 1024

const LEDGER_COLUMNS = `id_space, transaction_key, entry, network, transaction_id, user_id, amount, balance_after,
  decision, reason, test, imported, event_id, offer, payout, received_amount, unit, rate, actor, postback_id, created_at`

const POSTBACK_COLUMNS = `id, network, received_at, method, url, headers, body, ip, outcome, reason, verified, test,
  transaction_id, id_space, transaction_key, entry, user_id, amount, answer_status, answer_body, milliseconds, open`

/** What a later write of the same inbox row replaces: everything that was decided, nothing that arrived. */
const DECIDED_COLUMNS = [
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
]

/** What a person has closed stays closed, whatever a later run makes of the call. */
const OPEN_UNLESS_RESOLVED = 'open = if(resolved_reason is null, values(open), 0)'

/** A plain read: nothing is locked, and only the unique key can tell that something is absent. */
export function readStored(
  names: TableNames,
  keys: readonly { readonly idSpace: string; readonly transactionKey: string }[],
): Statement {
  return {
    // The index is named, because statistics of a fast-growing ledger are old and a scan would cost seconds.
    sql: `select id_space, transaction_key, ${STORED_COLUMNS}
from ${names.table('ledger')} force index (${names.index('ledger_key')})
where (id_space, transaction_key) in (${keys.map(() => '(?, ?)').join(', ')}) and entry in ('credit', 'reversal')`,
    values: keys.flatMap(({ idSpace, transactionKey }) => [bytes(idSpace), bytes(transactionKey)]),
  }
}

/** All entries in the order given, or none: a duplicate fails the whole statement. Never with IGNORE. */
export function insertEntries(names: TableNames, scale: number, entries: readonly EntryRow[]): Statement {
  const values = entries.flatMap((entry): SqlValue[] => [
    bytes(entry.idSpace),
    bytes(entry.transactionKey),
    entry.entry,
    bytes(entry.network),
    bytes(entry.transactionId),
    bytes(entry.user),
    decimal(entry.amount, scale),
    optionalDecimal(entry.balanceAfter, scale),
    entry.decision,
    optionalBytes(entry.reason),
    flag(entry.test),
    flag(entry.imported),
    optionalBytes(entry.eventId),
    optionalBytes(entry.offer),
    optionalBytes(entry.payout),
    optionalBytes(entry.receivedAmount),
    optionalBytes(entry.unit),
    optionalBytes(entry.rate),
    optionalBytes(entry.actor),
    entry.postbackId === null ? null : requiredUuid(entry.postbackId),
  ])
  return {
    sql: `insert into ${names.table('ledger')} (${LEDGER_COLUMNS})
values ${tuples(entries.length, 20, ', utc_timestamp(3)')}`,
    values,
  }
}

const EVENTS: Readonly<Record<EntryRow['entry'], string>> = {
  credit: 'credit.booked',
  reversal: 'reversal.booked',
  withdrawal: 'withdrawal.booked',
  withdrawal_return: 'withdrawal_return.booked',
  adjustment: 'adjustment.booked',
}

/** One message for each entry that moves coins; null where none does. */
export function insertMessages(names: TableNames, entries: readonly EntryRow[]): Statement | null {
  const told = entries.filter((entry) => entry.amount !== 0n && !entry.imported)
  if (told.length === 0) return null
  return {
    sql: `insert into ${names.table('outbox')} (event, id_space, transaction_key, entry, user_id, created_at)
values ${tuples(told.length, 5, ', utc_timestamp(3)')}`,
    values: told.flatMap(({ entry, idSpace, transactionKey, user }): SqlValue[] => [
      EVENTS[entry],
      bytes(idSpace),
      bytes(transactionKey),
      entry,
      bytes(user),
    ]),
  }
}

/**
 * Inbox rows, cut into statements of a bounded size.
 *
 * @param existing what happens to a row of the same id: a re-run after a lost COMMIT reply and a reprocessing replace
 * what was decided; everybody else leaves it as it is.
 */
export function writePostbackRows(
  names: TableNames,
  scale: number,
  rows: readonly PostbackRow[],
  existing: 'replace' | 'keep',
): Statement[] {
  const update =
    existing === 'keep'
      ? 'id = id'
      : [...DECIDED_COLUMNS.map((column) => `${column} = values(${column})`), OPEN_UNLESS_RESOLVED].join(', ')
  return inBatches(rows).map((batch) => ({
    sql: `insert into ${names.table('postbacks')} (${POSTBACK_COLUMNS})
values ${tuples(batch.length, 22)}
on duplicate key update ${update}`,
    values: batch.flatMap((row) => postbackValues(row, scale)),
  }))
}

function postbackValues(row: PostbackRow, scale: number): SqlValue[] {
  return [
    requiredUuid(row.id),
    bytes(row.network),
    datetime(row.receivedAt),
    bytes(methodText(row.method)),
    rawBytes(row.url),
    bytes(row.headers),
    rawBytes(row.body),
    bytes(ipText(row.ip)),
    row.outcome,
    optionalBytes(row.reason),
    flag(row.verified),
    flag(row.test),
    optionalBytes(row.transactionId),
    optionalBytes(row.idSpace),
    optionalBytes(row.transactionKey),
    optionalBytes(row.entry),
    optionalBytes(row.user),
    optionalDecimal(row.amount, scale),
    row.answer.status,
    bytes(row.answer.body),
    row.milliseconds,
    flag(row.open),
  ]
}

function inBatches(rows: readonly PostbackRow[]): PostbackRow[][] {
  const batches: PostbackRow[][] = []
  let size = Infinity
  for (const row of rows) {
    const own = row.url.length + row.body.length + row.headers.length + 1_000
    if (size + own > BYTES_AT_ONCE || (batches.at(-1)?.length ?? 0) >= ROWS_AT_ONCE) {
      batches.push([])
      size = 0
    }
    batches.at(-1)?.push(row)
    size += own
  }
  return batches
}

function tuples(rows: number, columns: number, rest = ''): string {
  const one = `(${Array.from({ length: columns }, () => '?').join(', ')}${rest})`
  return Array.from({ length: rows }, () => one).join(', ')
}
