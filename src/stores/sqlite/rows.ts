/**
 * Rows of our tables to and from SQLite's values. A value of another type than its column's is refused here, because
 * SQLite would turn a number into text in silence.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import type { PostbackRow } from '../../ledger/postback-row.js'
import type { Postback } from '../../ledger/store.js'
import type { EntryDecision, EntryKind, EntryRow, LedgerEntry, StoredEntry } from '../../ledger/types.js'
import type { Outcome, PostbackEntry } from '../../outcome.js'
import { ipText, methodText } from '../call-text.js'
import type { SqlRow, SqlValue } from './driver.js'

/** Columns of a ledger entry as `entryFrom` reads them. */
export const ENTRY_COLUMNS =
  'id, id_space, network, transaction_key, transaction_id, entry, user_id, amount, balance_after, decision, reason, ' +
  'test, imported, cleared, event_id, offer, payout, received_amount, unit, rate, actor, postback_id, created_at'

/** Columns that an insert gives, in the order of `entryValues`. */
const NEW_ENTRY_COLUMNS =
  'id_space, transaction_key, entry, network, transaction_id, user_id, amount, balance_after, decision, reason, test, ' +
  'imported, event_id, offer, payout, received_amount, unit, rate, actor, postback_id'

/** Columns of a stored pair as `storedEntryFrom` reads them. */
export const STORED_COLUMNS =
  'entry, user_id, amount, received_amount, unit, test, imported, decision, postback_id'

/** Columns of an inbox row, in the order of `postbackValues`. */
export const POSTBACK_COLUMNS =
  'id, network, received_at, method, url, headers, body, ip, outcome, reason, verified, test, transaction_id, ' +
  'id_space, transaction_key, entry, user_id, amount, answer_status, answer_body, milliseconds, open'

/** `columns) values (?, …`: built once, since it is asked for with every row. */
export const NEW_ENTRY = withMarks(NEW_ENTRY_COLUMNS)
export const NEW_POSTBACK = withMarks(POSTBACK_COLUMNS)

/** The place of `balance_after` among the columns of a new entry. */
export const BALANCE_PLACE = NEW_ENTRY_COLUMNS.split(', ').indexOf('balance_after')

/** The same with an expression for the balance. */
export function newEntry(balance: string): string {
  const marks = NEW_ENTRY_COLUMNS.split(', ').map((column) => (column === 'balance_after' ? balance : '?'))
  return `(${NEW_ENTRY_COLUMNS}) values (${marks.join(', ')})`
}

function withMarks(columns: string): string {
  return `(${columns}) values (${columns.replaceAll(/[a-z_]+/g, '?')})`
}

export function entryValues(row: EntryRow): SqlValue[] {
  return [
    text(row.idSpace),
    text(row.transactionKey),
    text(row.entry),
    text(row.network),
    text(row.transactionId),
    text(row.user),
    integer(row.amount),
    row.balanceAfter === null ? null : integer(row.balanceAfter),
    text(row.decision),
    textOrNull(row.reason),
    flag(row.test),
    flag(row.imported),
    textOrNull(row.eventId),
    textOrNull(row.offer),
    textOrNull(row.payout),
    textOrNull(row.receivedAmount),
    textOrNull(row.unit),
    textOrNull(row.rate),
    textOrNull(row.actor),
    textOrNull(row.postbackId),
  ]
}

export function postbackValues(row: PostbackRow): SqlValue[] {
  return [
    text(row.id),
    text(row.network),
    time(row.receivedAt),
    methodText(row.method),
    row.url,
    text(row.headers),
    row.body,
    ipText(row.ip),
    text(row.outcome),
    textOrNull(row.reason),
    flag(row.verified),
    flag(row.test),
    textOrNull(row.transactionId),
    textOrNull(row.idSpace),
    textOrNull(row.transactionKey),
    textOrNull(row.entry),
    textOrNull(row.user),
    row.amount === null ? null : integer(row.amount),
    count(row.answer.status),
    text(row.answer.body),
    count(row.milliseconds),
    flag(row.open),
  ]
}

export function storedEntryFrom(row: SqlRow): StoredEntry {
  return {
    entry: readText(row, 'entry') as PostbackEntry,
    user: readText(row, 'user_id'),
    amount: readInteger(row, 'amount'),
    receivedAmount: readTextOrNull(row, 'received_amount'),
    unit: readTextOrNull(row, 'unit'),
    test: readFlag(row, 'test'),
    imported: readFlag(row, 'imported'),
    decision: readText(row, 'decision') as EntryDecision,
    postbackId: readTextOrNull(row, 'postback_id'),
  }
}

export function entryFrom(row: SqlRow): LedgerEntry {
  return {
    id: readInteger(row, 'id').toString(),
    idSpace: readText(row, 'id_space'),
    network: readText(row, 'network'),
    transactionKey: readText(row, 'transaction_key'),
    transactionId: readText(row, 'transaction_id'),
    entry: readText(row, 'entry') as EntryKind,
    user: readText(row, 'user_id'),
    amount: readInteger(row, 'amount'),
    balanceAfter: readIntegerOrNull(row, 'balance_after'),
    decision: readText(row, 'decision') as EntryDecision,
    reason: readTextOrNull(row, 'reason'),
    test: readFlag(row, 'test'),
    imported: readFlag(row, 'imported'),
    cleared: readFlag(row, 'cleared'),
    eventId: readTextOrNull(row, 'event_id'),
    offer: readTextOrNull(row, 'offer'),
    payout: readTextOrNull(row, 'payout'),
    receivedAmount: readTextOrNull(row, 'received_amount'),
    unit: readTextOrNull(row, 'unit'),
    rate: readTextOrNull(row, 'rate'),
    actor: readTextOrNull(row, 'actor'),
    postbackId: readTextOrNull(row, 'postback_id'),
    createdAt: readTime(row, 'created_at'),
  }
}

export function postbackFrom(row: SqlRow): Postback {
  return {
    id: readText(row, 'id'),
    network: readText(row, 'network'),
    receivedAt: readTime(row, 'received_at'),
    method: readText(row, 'method'),
    url: readBytes(row, 'url'),
    headers: readText(row, 'headers'),
    body: readBytes(row, 'body'),
    ip: readText(row, 'ip'),
    outcome: readText(row, 'outcome') as Outcome,
    reason: readTextOrNull(row, 'reason'),
    verified: readFlag(row, 'verified'),
    test: readFlag(row, 'test'),
    transactionId: readTextOrNull(row, 'transaction_id'),
    idSpace: readTextOrNull(row, 'id_space'),
    transactionKey: readTextOrNull(row, 'transaction_key'),
    entry: readTextOrNull(row, 'entry') as PostbackEntry | null,
    user: readTextOrNull(row, 'user_id'),
    amount: readIntegerOrNull(row, 'amount'),
    answer: { status: Number(readInteger(row, 'answer_status')), body: readText(row, 'answer_body') },
    milliseconds: Number(readInteger(row, 'milliseconds')),
    open: readFlag(row, 'open'),
    resolvedReason: readTextOrNull(row, 'resolved_reason'),
  }
}

export function text(value: unknown): string {
  if (typeof value === 'string') return value
  throw new StoreError('refused', `A text was expected, not a value of the type ${typeof value}.`)
}

export function textOrNull(value: unknown): string | null {
  return value === null ? null : text(value)
}

export function integer(value: unknown): bigint {
  if (typeof value === 'bigint') return value
  throw new StoreError('refused', `A bigint was expected, not a value of the type ${typeof value}.`)
}

export function flag(value: unknown): bigint {
  if (typeof value === 'boolean') return value ? 1n : 0n
  throw new StoreError('refused', `A boolean was expected, not a value of the type ${typeof value}.`)
}

export function count(value: number): bigint {
  return BigInt(Math.round(value))
}

export function time(value: Date): bigint {
  return BigInt(value.getTime())
}

export function readText(row: SqlRow, column: string): string {
  const value = row[column]
  if (typeof value === 'string') return value
  throw unexpected(column, value)
}

export function readTextOrNull(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : readText(row, column)
}

export function readInteger(row: SqlRow, column: string): bigint {
  const value = row[column]
  if (typeof value === 'bigint') return value
  throw unexpected(column, value)
}

export function readIntegerOrNull(row: SqlRow, column: string): bigint | null {
  return row[column] === null ? null : readInteger(row, column)
}

export function readFlag(row: SqlRow, column: string): boolean {
  return readInteger(row, column) === 1n
}

function readTime(row: SqlRow, column: string): Date {
  return new Date(Number(readInteger(row, column)))
}

function readBytes(row: SqlRow, column: string): Buffer {
  const value = row[column]
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  throw unexpected(column, value)
}

function unexpected(column: string, value: unknown): StoreError {
  const type = value === null ? 'NULL' : typeof value
  return new StoreError('refused', `The column ${column} holds a value of the type ${type}.`)
}
