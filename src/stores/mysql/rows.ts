/**
 * Values on their way in and rows on their way out. Ids go as bytes, amounts as decimal text, so that neither the driver
 * nor the server ever parses what a network sent.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import type { Postback } from '../../ledger/store.js'
import type { EntryDecision, EntryKind, LedgerEntry, StoredEntry } from '../../ledger/types.js'
import { formatMinor, parseMinor } from '../../money.js'
import type { Outcome, PostbackEntry } from '../../outcome.js'
import type { Row } from './driver.js'

/** A text as its UTF-8 bytes; the type is checked, because a driver expands objects and arrays into SQL. */
export function bytes(text: string): Buffer {
  if (typeof text !== 'string') throw wrongType('text', text)
  return Buffer.from(text)
}

export function optionalBytes(text: string | null): Buffer | null {
  return text === null ? null : bytes(text)
}

export function rawBytes(raw: Buffer): Buffer {
  if (!Buffer.isBuffer(raw)) throw wrongType('bytes', raw)
  return raw
}

export function decimal(minor: bigint, scale: number): string {
  if (typeof minor !== 'bigint') throw wrongType('an amount', minor)
  return formatMinor(minor, scale)
}

export function optionalDecimal(minor: bigint | null, scale: number): string | null {
  return minor === null ? null : decimal(minor, scale)
}

export function flag(value: boolean): number {
  if (typeof value !== 'boolean') throw wrongType('a flag', value)
  return value ? 1 : 0
}

/** A point in time for DATETIME(3), in UTC. */
export function datetime(date: Date): string {
  return date.toISOString().replace('T', ' ').replace('Z', '')
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The sixteen bytes of a UUID, or null where the text is none. */
export function uuidBytes(text: string): Buffer | null {
  return UUID.test(text) ? Buffer.from(text.replaceAll('-', ''), 'hex') : null
}

export function requiredUuid(text: string): Buffer {
  const found = uuidBytes(text)
  if (found === null) throw new StoreError('refused', `The postback id ${JSON.stringify(text)} is no UUID.`)
  return found
}

export function uuidText(value: unknown): string {
  if (!Buffer.isBuffer(value)) throw wrongType('a UUID', value)
  const hex = value.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

export function text(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString()
  if (typeof value === 'string') return value
  throw wrongType('text', value)
}

export function optionalText(value: unknown): string | null {
  return value === null ? null : text(value)
}

export function minor(value: unknown, scale: number): bigint {
  const found = parseMinor(text(value), scale)
  if (found === null)
    throw new StoreError('refused', `The amount ${text(value)} has more than ${scale} decimals.`)
  return found
}

export function optionalMinor(value: unknown, scale: number): bigint | null {
  return value === null ? null : minor(value, scale)
}

/** Reads a balance that may be finer than our scale, rounded toward minus infinity. */
export function floorMinor(value: unknown, scale: number): bigint {
  const written = text(value)
  const point = written.indexOf('.')
  if (point < 0 || written.length - point - 1 <= scale) return minor(written, scale)
  const kept = minor(written.slice(0, scale === 0 ? point : point + 1 + scale), scale)
  const lost = /[1-9]/.test(written.slice(point + 1 + scale))
  return lost && written.startsWith('-') ? kept - 1n : kept
}

export function isTrue(value: unknown): boolean {
  return Number(value) === 1
}

function date(value: unknown): Date {
  return new Date(`${text(value).slice(0, 23)}Z`)
}

/** Writes a DATETIME(3) as text that no driver's time zone can shift. */
export const DATE_FORMAT = '%Y-%m-%dT%H:%i:%s.%f'

/** The columns of a ledger entry; amounts and ids as text, so that the driver makes no number of them. */
export const ENTRY_COLUMNS = `cast(id as char) as id, id_space, transaction_key, entry, network, transaction_id, user_id,
  cast(amount as char) as amount, cast(balance_after as char) as balance_after, decision, reason, test, imported, cleared,
  event_id, offer, payout, received_amount, unit, rate, actor, postback_id,
  date_format(created_at, '${DATE_FORMAT}') as created_at`

export function readEntry(row: Row, scale: number): LedgerEntry {
  return {
    id: text(row['id']),
    idSpace: text(row['id_space']),
    transactionKey: text(row['transaction_key']),
    entry: text(row['entry']) as EntryKind,
    network: text(row['network']),
    transactionId: text(row['transaction_id']),
    user: text(row['user_id']),
    amount: minor(row['amount'], scale),
    balanceAfter: optionalMinor(row['balance_after'], scale),
    decision: text(row['decision']) as EntryDecision,
    reason: optionalText(row['reason']),
    test: isTrue(row['test']),
    imported: isTrue(row['imported']),
    cleared: isTrue(row['cleared']),
    eventId: optionalText(row['event_id']),
    offer: optionalText(row['offer']),
    payout: optionalText(row['payout']),
    receivedAmount: optionalText(row['received_amount']),
    unit: optionalText(row['unit']),
    rate: optionalText(row['rate']),
    actor: optionalText(row['actor']),
    postbackId: row['postback_id'] === null ? null : uuidText(row['postback_id']),
    createdAt: date(row['created_at']),
  }
}

/** The columns of an entry that decide what a later claim on its key becomes. */
export const STORED_COLUMNS = `entry, user_id, cast(amount as char) as amount, received_amount, unit, test, imported,
  decision, postback_id`

export function readStoredEntry(row: Row, scale: number): StoredEntry {
  return {
    entry: text(row['entry']) as PostbackEntry,
    user: text(row['user_id']),
    amount: minor(row['amount'], scale),
    receivedAmount: optionalText(row['received_amount']),
    unit: optionalText(row['unit']),
    test: isTrue(row['test']),
    imported: isTrue(row['imported']),
    decision: text(row['decision']) as EntryDecision,
    postbackId: row['postback_id'] === null ? null : uuidText(row['postback_id']),
  }
}

export function readPostbackRow(row: Row, scale: number): Postback {
  return {
    id: uuidText(row['id']),
    network: text(row['network']),
    receivedAt: date(row['received_at']),
    method: text(row['method']),
    url: row['url'] as Buffer,
    headers: text(row['headers']),
    body: row['body'] as Buffer,
    ip: text(row['ip']),
    outcome: text(row['outcome']) as Outcome,
    reason: optionalText(row['reason']),
    verified: isTrue(row['verified']),
    test: isTrue(row['test']),
    transactionId: optionalText(row['transaction_id']),
    idSpace: optionalText(row['id_space']),
    transactionKey: optionalText(row['transaction_key']),
    entry: optionalText(row['entry']) as PostbackEntry | null,
    user: optionalText(row['user_id']),
    amount: optionalMinor(row['amount'], scale),
    answer: { status: Number(row['answer_status']), body: text(row['answer_body']) },
    milliseconds: Number(row['milliseconds']),
    open: isTrue(row['open']),
    resolvedReason: optionalText(row['resolved_reason']),
  }
}

function wrongType(wanted: string, value: unknown): StoreError {
  return new StoreError(
    'refused',
    `The store was given a value of type ${typeof value} where ${wanted} belongs.`,
  )
}
