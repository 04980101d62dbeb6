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
  bytesLiteral,
  decimalLiteral,
  flagLiteral,
  insertRows,
  numberLiteral,
  optionalDecimal,
  optionalText,
  textLiteral,
  uuidLiteral,
  NULL,
  type Column,
} from './literals.js'
import { datetime, STORED_COLUMNS } from './rows.js'
import type { Statement } from './driver.js'

/** Rows for one statement; a group is smaller, only its waiting copies can be more. */
const ROWS_AT_ONCE = 500

/** Bytes of raw calls for one statement; written as hexadecimal it doubles, and the server takes 16 MiB or more. */
const BYTES_AT_ONCE = 2 * 1024 * 1024

const NOW = 'utc_timestamp(3)'

const LEDGER_COLUMNS: readonly Column<EntryRow>[] = [
  { name: 'id_space', literal: (row) => textLiteral(row.idSpace) },
  { name: 'transaction_key', literal: (row) => textLiteral(row.transactionKey) },
  { name: 'entry', literal: (row) => textLiteral(row.entry) },
  { name: 'network', literal: (row) => textLiteral(row.network) },
  { name: 'transaction_id', literal: (row) => textLiteral(row.transactionId) },
  { name: 'user_id', literal: (row) => textLiteral(row.user) },
  { name: 'amount', literal: (row, scale) => decimalLiteral(row.amount, scale) },
  { name: 'balance_after', literal: (row, scale) => optionalDecimal(row.balanceAfter, scale) },
  { name: 'decision', literal: (row) => textLiteral(row.decision) },
  { name: 'reason', literal: (row) => optionalText(row.reason) },
  { name: 'test', literal: (row) => flagLiteral(row.test), unless: '0' },
  { name: 'imported', literal: (row) => flagLiteral(row.imported), unless: '0' },
  { name: 'event_id', literal: (row) => optionalText(row.eventId) },
  { name: 'offer', literal: (row) => optionalText(row.offer) },
  { name: 'payout', literal: (row) => optionalText(row.payout) },
  { name: 'received_amount', literal: (row) => optionalText(row.receivedAmount) },
  { name: 'unit', literal: (row) => optionalText(row.unit) },
  { name: 'rate', literal: (row) => optionalText(row.rate) },
  { name: 'actor', literal: (row) => optionalText(row.actor) },
  { name: 'postback_id', literal: (row) => (row.postbackId === null ? NULL : uuidLiteral(row.postbackId)) },
  { name: 'created_at', literal: () => NOW },
]

const OUTBOX_COLUMNS: readonly Column<EntryRow>[] = [
  { name: 'event', literal: (row) => textLiteral(EVENTS[row.entry]) },
  { name: 'id_space', literal: (row) => textLiteral(row.idSpace) },
  { name: 'transaction_key', literal: (row) => textLiteral(row.transactionKey) },
  { name: 'entry', literal: (row) => textLiteral(row.entry) },
  { name: 'user_id', literal: (row) => textLiteral(row.user) },
  { name: 'created_at', literal: () => NOW },
]

const POSTBACK_COLUMNS: readonly Column<PostbackRow>[] = [
  { name: 'id', literal: (row) => uuidLiteral(row.id) },
  { name: 'network', literal: (row) => textLiteral(row.network) },
  { name: 'received_at', literal: (row) => textLiteral(datetime(row.receivedAt)) },
  { name: 'method', literal: (row) => textLiteral(methodText(row.method)) },
  { name: 'url', literal: (row) => bytesLiteral(row.url) },
  { name: 'headers', literal: (row) => textLiteral(row.headers) },
  { name: 'body', literal: (row) => bytesLiteral(row.body) },
  { name: 'ip', literal: (row) => textLiteral(ipText(row.ip)) },
  { name: 'outcome', literal: (row) => textLiteral(row.outcome) },
  { name: 'reason', literal: (row) => optionalText(row.reason) },
  { name: 'verified', literal: (row) => flagLiteral(row.verified) },
  { name: 'test', literal: (row) => flagLiteral(row.test) },
  { name: 'transaction_id', literal: (row) => optionalText(row.transactionId) },
  { name: 'id_space', literal: (row) => optionalText(row.idSpace) },
  { name: 'transaction_key', literal: (row) => optionalText(row.transactionKey) },
  { name: 'entry', literal: (row) => optionalText(row.entry) },
  { name: 'user_id', literal: (row) => optionalText(row.user) },
  { name: 'amount', literal: (row, scale) => optionalDecimal(row.amount, scale) },
  { name: 'answer_status', literal: (row) => numberLiteral(row.answer.status) },
  { name: 'answer_body', literal: (row) => textLiteral(row.answer.body) },
  { name: 'milliseconds', literal: (row) => numberLiteral(row.milliseconds) },
  { name: 'open', literal: (row) => flagLiteral(row.open) },
]

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
where (id_space, transaction_key) in (${keys.map((key) => `(${textLiteral(key.idSpace)}, ${textLiteral(key.transactionKey)})`).join(', ')})
  and entry in ('credit', 'reversal')`,
    values: [],
  }
}

/** All entries in the order given, or none: a duplicate fails the whole statement. Never with IGNORE. */
export function insertEntries(names: TableNames, scale: number, entries: readonly EntryRow[]): Statement {
  return { sql: insertRows(names.table('ledger'), LEDGER_COLUMNS, entries, scale), values: [] }
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
  return { sql: insertRows(names.table('outbox'), OUTBOX_COLUMNS, told, 0), values: [] }
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
    sql: `${insertRows(names.table('postbacks'), POSTBACK_COLUMNS, batch, scale)}
on duplicate key update ${update}`,
    values: [],
  }))
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
