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
import { byteaText, type Column } from './columns.js'
import type { TextRow } from './driver.js'

/** A row of the ledger on its way: what stands in the wallet after it is known only where the wallet's row changes. */
export interface NewEntry {
  readonly row: EntryRow
  /** The place of its wallet in the group's list of changes, from 1; null where that is not among them. */
  readonly wallet: number | null
  /** `balanceAfter` as the distance from what the change leaves in the wallet; without a wallet it is the balance itself. */
  readonly behind: bigint | null
}

const entry = (
  name: string,
  type: string,
  value: (row: EntryRow, scale: number) => string | null,
): Column<NewEntry> => ({ name, type, value: (entry, scale) => value(entry.row, scale) })

/** The columns of a new entry that are sent as they are. */
export const ENTRY_COLUMNS: readonly Column<NewEntry>[] = [
  entry('transaction_key', 'text', (row) => text(row.transactionKey)),
  entry('id_space', 'text', (row) => text(row.idSpace)),
  entry('entry', 'text', (row) => text(row.entry)),
  entry('network', 'text', (row) => text(row.network)),
  entry('transaction_id', 'text', (row) => text(row.transactionId)),
  entry('user_id', 'text', (row) => text(row.user)),
  entry('amount', 'numeric', (row, scale) => amount(row.amount, scale)),
  entry('decision', 'text', (row) => text(row.decision)),
  entry('reason', 'text', (row) => text(row.reason)),
  entry('test', 'boolean', (row) => flag(row.test)),
  entry('imported', 'boolean', (row) => flag(row.imported)),
  entry('event_id', 'text', (row) => text(row.eventId)),
  entry('offer', 'text', (row) => text(row.offer)),
  entry('payout', 'text', (row) => text(row.payout)),
  entry('received_amount', 'text', (row) => text(row.receivedAmount)),
  entry('unit', 'text', (row) => text(row.unit)),
  entry('rate', 'text', (row) => text(row.rate)),
  entry('actor', 'text', (row) => text(row.actor)),
  entry('postback_id', 'uuid', (row) => text(row.postbackId)),
]

/** What the balance after an entry is reckoned from. */
export const BALANCE_COLUMNS: readonly Column<NewEntry>[] = [
  { name: 'wallet', type: 'integer', value: ({ wallet }) => (wallet === null ? null : integer(wallet)) },
  { name: 'behind', type: 'numeric', value: ({ behind }, scale) => amount(behind, scale) },
]

const call = (
  name: string,
  type: string,
  value: (row: PostbackRow, scale: number) => string | null,
): Column<PostbackRow> => ({ name, type, value })

export const POSTBACK_COLUMNS: readonly Column<PostbackRow>[] = [
  call('id', 'uuid', (row) => text(row.id)),
  call('network', 'text', (row) => text(row.network)),
  call('received_at', 'timestamptz', (row) => row.receivedAt.toISOString()),
  call('method', 'text', (row) => methodText(row.method)),
  call('url', 'bytea', (row) => bytes(row.url)),
  call('headers', 'text', (row) => text(row.headers)),
  call('body', 'bytea', (row) => bytes(row.body)),
  call('ip', 'text', (row) => ipText(row.ip)),
  call('outcome', 'text', (row) => text(row.outcome)),
  call('reason', 'text', (row) => text(row.reason)),
  call('verified', 'boolean', (row) => flag(row.verified)),
  call('test', 'boolean', (row) => flag(row.test)),
  call('transaction_id', 'text', (row) => text(row.transactionId)),
  call('id_space', 'text', (row) => text(row.idSpace)),
  call('transaction_key', 'text', (row) => text(row.transactionKey)),
  call('entry', 'text', (row) => text(row.entry)),
  call('user_id', 'text', (row) => text(row.user)),
  call('amount', 'numeric', (row, scale) => amount(row.amount, scale)),
  call('answer_status', 'smallint', (row) => integer(row.answer.status)),
  call('answer_body', 'text', (row) => text(row.answer.body)),
  call('milliseconds', 'integer', (row) => integer(row.milliseconds)),
  call('open', 'boolean', (row) => flag(row.open)),
]

/** A string is checked to be one, so that no object or array is ever taken for its text; NUL has no place in one. */
export function text(value: string | null): string | null {
  if (value === null) return null
  if (typeof value !== 'string') throw new TypeError(`A text was expected, not ${typeof value}.`)
  return value.includes('\u0000') ? value.replaceAll('\u0000', '\ufffd') : value
}

export function amount(value: bigint | null, scale: number): string | null {
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

function bytes(value: Buffer): string {
  if (!Buffer.isBuffer(value)) throw new TypeError(`Bytes were expected, not ${typeof value}.`)
  return byteaText(value)
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
