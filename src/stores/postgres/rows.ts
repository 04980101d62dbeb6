/**
 * Rows on their way to and from PostgreSQL. Written as one array for each column, read as text.
 *
 * @module
 */
import { formatMinor, parseMinor } from '../../money.js'
import type { Outcome, PostbackEntry } from '../../outcome.js'
import { StoreError } from '../../errors.js'
import type { PostbackRow } from '../../ledger/postback-row.js'
import type { Postback } from '../../ledger/store.js'
import type { EntryDecision, EntryKind, EntryRow, LedgerEntry, StoredEntry } from '../../ledger/types.js'
import { ipText, methodText } from '../call-text.js'
import type { TextRow } from './driver.js'

/** One column of a table that is written by arrays. */
interface Column<Row> {
  readonly name: string
  readonly type: string
  readonly value: (row: Row, scale: number) => string | Buffer | null
}

export const ENTRY_COLUMNS: readonly Column<EntryRow>[] = [
  { name: 'id_space', type: 'text', value: (row) => text(row.idSpace) },
  { name: 'transaction_key', type: 'text', value: (row) => text(row.transactionKey) },
  { name: 'entry', type: 'text', value: (row) => text(row.entry) },
  { name: 'network', type: 'text', value: (row) => text(row.network) },
  { name: 'transaction_id', type: 'text', value: (row) => text(row.transactionId) },
  { name: 'user_id', type: 'text', value: (row) => text(row.user) },
  { name: 'amount', type: 'numeric', value: (row, scale) => amount(row.amount, scale) },
  { name: 'balance_after', type: 'numeric', value: (row, scale) => amount(row.balanceAfter, scale) },
  { name: 'decision', type: 'text', value: (row) => text(row.decision) },
  { name: 'reason', type: 'text', value: (row) => text(row.reason) },
  { name: 'test', type: 'boolean', value: (row) => flag(row.test) },
  { name: 'imported', type: 'boolean', value: (row) => flag(row.imported) },
  { name: 'event_id', type: 'text', value: (row) => text(row.eventId) },
  { name: 'offer', type: 'text', value: (row) => text(row.offer) },
  { name: 'payout', type: 'text', value: (row) => text(row.payout) },
  { name: 'received_amount', type: 'text', value: (row) => text(row.receivedAmount) },
  { name: 'unit', type: 'text', value: (row) => text(row.unit) },
  { name: 'rate', type: 'text', value: (row) => text(row.rate) },
  { name: 'actor', type: 'text', value: (row) => text(row.actor) },
  { name: 'postback_id', type: 'uuid', value: (row) => text(row.postbackId) },
]

export const POSTBACK_COLUMNS: readonly Column<PostbackRow>[] = [
  { name: 'id', type: 'uuid', value: (row) => text(row.id) },
  { name: 'network', type: 'text', value: (row) => text(row.network) },
  { name: 'received_at', type: 'timestamptz', value: (row) => row.receivedAt.toISOString() },
  { name: 'method', type: 'text', value: (row) => methodText(row.method) },
  { name: 'url', type: 'bytea', value: (row) => bytes(row.url) },
  { name: 'headers', type: 'text', value: (row) => text(row.headers) },
  { name: 'body', type: 'bytea', value: (row) => bytes(row.body) },
  { name: 'ip', type: 'text', value: (row) => ipText(row.ip) },
  { name: 'outcome', type: 'text', value: (row) => text(row.outcome) },
  { name: 'reason', type: 'text', value: (row) => text(row.reason) },
  { name: 'verified', type: 'boolean', value: (row) => flag(row.verified) },
  { name: 'test', type: 'boolean', value: (row) => flag(row.test) },
  { name: 'transaction_id', type: 'text', value: (row) => text(row.transactionId) },
  { name: 'id_space', type: 'text', value: (row) => text(row.idSpace) },
  { name: 'transaction_key', type: 'text', value: (row) => text(row.transactionKey) },
  { name: 'entry', type: 'text', value: (row) => text(row.entry) },
  { name: 'user_id', type: 'text', value: (row) => text(row.user) },
  { name: 'amount', type: 'numeric', value: (row, scale) => amount(row.amount, scale) },
  { name: 'answer_status', type: 'smallint', value: (row) => integer(row.answer.status) },
  { name: 'answer_body', type: 'text', value: (row) => text(row.answer.body) },
  { name: 'milliseconds', type: 'integer', value: (row) => integer(row.milliseconds) },
  { name: 'open', type: 'boolean', value: (row) => flag(row.open) },
]

/** Turns rows into one array for each column, for `unnest`. */
export function columnArrays<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  scale: number,
): (string | Buffer | null)[][] {
  return columns.map(({ value }) => rows.map((row) => value(row, scale)))
}

/** `unnest($3::text[], $4::numeric[], …)`, counting from `first`. */
export function unnestOf(columns: readonly { readonly type: string }[], first: number): string {
  return `unnest(${columns.map(({ type }, index) => `$${first + index}::${type}[]`).join(', ')})`
}

/** A string is checked to be one, so that no object or array is ever expanded by the driver; NUL has no place in text. */
function text(value: string | null): string | null {
  if (value === null) return null
  if (typeof value !== 'string') throw new TypeError(`A text was expected, not ${typeof value}.`)
  return value.includes('\u0000') ? value.replaceAll('\u0000', '\ufffd') : value
}

function amount(value: bigint | null, scale: number): string | null {
  if (value === null) return null
  if (typeof value !== 'bigint')
    throw new TypeError(`An amount in minor units was expected, not ${typeof value}.`)
  return formatMinor(value, scale)
}

function integer(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`An integer was expected, not ${String(value)}.`)
  return String(Math.round(value))
}

function flag(value: boolean): string {
  if (typeof value !== 'boolean') throw new TypeError(`A boolean was expected, not ${typeof value}.`)
  return value ? 't' : 'f'
}

function bytes(value: Buffer): Buffer {
  if (!Buffer.isBuffer(value)) throw new TypeError(`Bytes were expected, not ${typeof value}.`)
  return value
}

/** Columns of a ledger row (alias `l`) that `readEntry` reads. */
export const ENTRY_SELECT = `l.id::text as id, l.id_space, l.transaction_key, l.entry, l.network, l.transaction_id,
  l.user_id, l.amount::text as amount, l.balance_after::text as balance_after, l.decision, l.reason, l.test::text as test,
  l.imported::text as imported, l.cleared::text as cleared, l.event_id, l.offer, l.payout, l.received_amount, l.unit,
  l.rate, l.actor, l.postback_id::text as postback_id, ${milliseconds('l.created_at')} as created_at`

export function readEntry(row: TextRow, scale: number): LedgerEntry {
  return {
    id: need(row, 'id'),
    idSpace: need(row, 'id_space'),
    transactionKey: need(row, 'transaction_key'),
    entry: need(row, 'entry') as EntryKind,
    network: need(row, 'network'),
    transactionId: need(row, 'transaction_id'),
    user: need(row, 'user_id'),
    amount: readAmount(need(row, 'amount'), scale),
    balanceAfter: maybeAmount(row, 'balance_after', scale),
    decision: need(row, 'decision') as EntryDecision,
    reason: maybe(row, 'reason'),
    test: isTrue(row, 'test'),
    imported: isTrue(row, 'imported'),
    cleared: isTrue(row, 'cleared'),
    eventId: maybe(row, 'event_id'),
    offer: maybe(row, 'offer'),
    payout: maybe(row, 'payout'),
    receivedAmount: maybe(row, 'received_amount'),
    unit: maybe(row, 'unit'),
    rate: maybe(row, 'rate'),
    actor: maybe(row, 'actor'),
    postbackId: maybe(row, 'postback_id'),
    createdAt: readTime(row, 'created_at'),
  }
}

/** Columns of a ledger row (alias `l`) that decide. */
export const STORED_SELECT = `l.entry, l.user_id, l.amount::text as amount, l.received_amount, l.unit,
  l.test::text as test, l.imported::text as imported, l.decision, l.postback_id::text as postback_id`

export function readStored(row: TextRow, scale: number): StoredEntry {
  return {
    entry: need(row, 'entry') as PostbackEntry,
    user: need(row, 'user_id'),
    amount: readAmount(need(row, 'amount'), scale),
    receivedAmount: maybe(row, 'received_amount'),
    unit: maybe(row, 'unit'),
    test: isTrue(row, 'test'),
    imported: isTrue(row, 'imported'),
    decision: need(row, 'decision') as EntryDecision,
    postbackId: maybe(row, 'postback_id'),
  }
}

/** Columns of an inbox row (alias `p`) that `readPostbackRow` reads; `open` is added by the caller. */
export const POSTBACK_SELECT = `p.id::text as id, p.network, ${milliseconds('p.received_at')} as received_at, p.method,
  encode(p.url, 'hex') as url, p.headers, encode(p.body, 'hex') as body, p.ip, p.outcome, p.reason,
  p.verified::text as verified, p.test::text as test, p.transaction_id, p.id_space, p.transaction_key, p.entry, p.user_id,
  p.amount::text as amount, p.answer_status::text as answer_status, p.answer_body, p.milliseconds::text as milliseconds,
  p.resolved_reason`

export function readPostbackRow(row: TextRow, scale: number): Postback {
  return {
    id: need(row, 'id'),
    network: need(row, 'network'),
    receivedAt: readTime(row, 'received_at'),
    method: need(row, 'method'),
    url: Buffer.from(need(row, 'url'), 'hex'),
    headers: need(row, 'headers'),
    body: Buffer.from(need(row, 'body'), 'hex'),
    ip: need(row, 'ip'),
    outcome: need(row, 'outcome') as Outcome,
    reason: maybe(row, 'reason'),
    verified: isTrue(row, 'verified'),
    test: isTrue(row, 'test'),
    transactionId: maybe(row, 'transaction_id'),
    idSpace: maybe(row, 'id_space'),
    transactionKey: maybe(row, 'transaction_key'),
    entry: maybe(row, 'entry') as PostbackEntry | null,
    user: maybe(row, 'user_id'),
    amount: maybeAmount(row, 'amount', scale),
    answer: { status: Number(need(row, 'answer_status')), body: need(row, 'answer_body') },
    milliseconds: Number(need(row, 'milliseconds')),
    open: isTrue(row, 'open'),
    resolvedReason: maybe(row, 'resolved_reason'),
  }
}

function milliseconds(column: string): string {
  return `round(extract(epoch from ${column}) * 1000)::bigint::text`
}

function readTime(row: TextRow, column: string): Date {
  return new Date(Number(need(row, column)))
}

/** @throws StoreError `refused` where a locked balance was not changed, or more than that one */
export function refuseUnchanged(changed: string, planned: number): void {
  if (changed === String(planned)) return
  throw new StoreError('refused', `${changed} of ${planned} locked balances were changed; rolled back.`)
}

/** A value that is never NULL. */
export function need(row: TextRow, column: string): string {
  const value = row[column]
  if (value === null || value === undefined)
    throw new StoreError('refused', `Column ${column} is NULL or missing.`)
  return value
}

export function maybe(row: TextRow, column: string): string | null {
  return row[column] ?? null
}

export function isTrue(row: TextRow, column: string): boolean {
  return row[column] === 'true'
}

/** Exact decimal text of the ledger in minor units. */
export function readAmount(decimal: string, scale: number): bigint {
  const minor = parseMinor(decimal, scale)
  if (minor === null)
    throw new StoreError('refused', `The database holds the amount ${decimal}, which is not exact.`)
  return minor
}

export function maybeAmount(row: TextRow, column: string, scale: number): bigint | null {
  const value = row[column]
  return value === null || value === undefined ? null : readAmount(value, scale)
}
