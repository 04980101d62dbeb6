/**
 * Reads what a caller of the admin API sent: path ids, query parameters, JSON bodies. Everything that is not
 * understood is refused by name, because a misspelt filter that is ignored answers another question.
 *
 * @module
 */
import { readBody } from '../adapters/read-body.js'
import { idFault, type IdFault } from '../ids.js'
import type { Page } from '../ledger/store.js'
import { MAX_AMOUNT_MINOR, parseMinor } from '../money.js'
import type { AdminCall } from './admin-context.js'
import { badRequest, BodyTooLarge } from './api-error.js'

const MAX_BODY_BYTES = 64 * 1024
const MAX_LIMIT = 500
const DEFAULT_LIMIT = 50

const FAULTS: Readonly<Record<IdFault, string>> = {
  empty: 'is empty',
  blank: 'is blank',
  too_long: 'is longer than 255 bytes',
  control_character: 'holds a control character',
  unexpanded_macro: 'is a macro that was not filled in',
}

const DOT_SEGMENT = /^(\.|%2e){1,2}$/i

/**
 * Refuses a target that a URL reader makes another path of: `..` and `.` (percent-encoded too), `\` and `#`. Routes
 * are found by the path after that and ids are read from the path before it, so the two must not differ.
 */
export function checkTarget(target: string | null): void {
  if (target === null) return
  const path = target.split('?', 1)[0] ?? ''
  if (!path.startsWith('/') || /[\\#]/.test(path)) {
    throw badRequest('The path', 'is not percent-encoded', 'Encode each id with encodeURIComponent.')
  }
  if (path.split('/').some((segment) => DOT_SEGMENT.test(segment))) {
    throw badRequest(
      'The path',
      'has "." or ".." as a segment',
      'Ids of this form cannot be sent in a path; use the command line for them.',
    )
  }
}

/**
 * The id at one place of the path, decoded once. The router's own decoding leaves what it cannot decode as it is, and
 * an id must never be another id.
 *
 * @param place which segment below `/api/v1`: 1 in `/api/v1/wallets/{user}`
 */
export function pathId(call: AdminCall, place: number, name: string): string {
  const target = call.env.incoming?.url ?? new URL(call.req.url).pathname
  const segments = (target.split('?', 1)[0] ?? '').split('/')
  const raw = segments[segments.indexOf('v1') + 1 + place] ?? ''
  let id: string
  try {
    id = decodeURIComponent(raw)
  } catch {
    throw badRequest(name, 'is not percent-encoded UTF-8', 'Encode the id with encodeURIComponent.')
  }
  return checkedId(id, name)
}

/** Checks an id by the one grammar of ids. */
export function checkedId(id: unknown, name: string): string {
  if (typeof id !== 'string') throw badRequest(name, 'must be text')
  const fault = idFault(id)
  if (fault !== null)
    throw badRequest(name, FAULTS[fault], 'Ids are 1 to 255 bytes without control characters.')
  return id
}

/** The query parameters, refused where one is not in `allowed`. */
export function readQuery(call: AdminCall, allowed: readonly string[]): Readonly<Record<string, string[]>> {
  const given = call.req.queries()
  for (const name of Object.keys(given)) {
    if (!allowed.includes(name))
      throw badRequest(name, 'is no parameter of this route', `Known: ${allowed.join(', ')}.`)
  }
  return given
}

/** The only value of a parameter, or undefined. */
export function single(query: Readonly<Record<string, string[]>>, name: string): string | undefined {
  const values = query[name] ?? []
  if (values.length > 1) throw badRequest(name, 'may be given once only')
  return values[0]
}

/** The shape of a list's cursors. Stores answer a foreign one differently, some by starting over without a word. */
export type CursorShape = 'uuid' | 'number' | 'id'

const CURSORS: Readonly<Record<CursorShape, (text: string) => boolean>> = {
  uuid: (text) => UUID.test(text),
  number: (text) => /^(0|[1-9]\d{0,17})$/.test(text),
  // A publisher's table may hold ids that no network could send; its pages are turned all the same.
  id: (text) => !['empty', 'too_long', 'control_character'].includes(idFault(text) ?? ''),
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** `limit` and `cursor`. */
export function readPage(query: Readonly<Record<string, string[]>>, shape: CursorShape): Page {
  const limit = single(query, 'limit')
  const cursor = single(query, 'cursor')
  if (limit !== undefined && (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > MAX_LIMIT)) {
    throw badRequest('limit', `must be a whole number from 1 to ${MAX_LIMIT}`)
  }
  if (cursor !== undefined && !CURSORS[shape](cursor)) {
    throw badRequest('cursor', 'must be the nextCursor of an earlier answer')
  }
  return {
    limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
    cursor: (shape === 'uuid' ? cursor?.toLowerCase() : cursor) ?? null,
  }
}

/** `true` or `false`, as query text or JSON. */
export function readBoolean(value: unknown, name: string): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value
  if (value === 'true') return true
  if (value === 'false') return false
  throw badRequest(name, 'must be true or false')
}

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i

/** `Date` reads the 30th of February as the 2nd of March; a filter must not. */
function readRfc3339(text: string): Date | null {
  const [, year, month, day] = RFC_3339.exec(text) ?? []
  if (day === undefined) return null
  const midnight = new Date(`${year ?? ''}-${month ?? ''}-${day}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(day)) return null
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? null : time
}

/** A time by RFC 3339, with its zone. */
export function readTime(value: unknown, name: string): Date | undefined {
  if (value === undefined) return undefined
  const time = typeof value === 'string' ? readRfc3339(value) : null
  if (time === null) {
    throw badRequest(name, 'must be a time such as 2026-05-01T00:00:00.000Z')
  }
  return time
}

/** Signed decimal text in minor units, not zero and within the limit of one entry. */
export function readAmount(value: unknown, name: string, scale: number): bigint {
  if (typeof value !== 'string') {
    throw badRequest(
      name,
      'must be decimal text',
      `Write ${JSON.stringify('12.5')}, not 12.5: numbers lose digits.`,
    )
  }
  const minor = parseMinor(value, scale)
  if (minor === null) throw badRequest(name, `must be decimal text with at most ${scale} decimals`)
  if (minor === 0n) throw badRequest(name, 'must not be zero')
  if (minor > MAX_AMOUNT_MINOR || minor < -MAX_AMOUNT_MINOR)
    throw badRequest(name, 'is beyond the largest amount')
  return minor
}

/** A sentence that a person wrote. */
export function readReason(value: unknown, name: string): string {
  if (typeof value !== 'string' || value.trim() === '') throw badRequest(name, 'must be text that says why')
  if (value.length > 500) throw badRequest(name, 'is longer than 500 characters')
  return value
}

/** The JSON object of a body; an absent body is an empty object. */
export async function readJson(
  call: AdminCall,
  allowed: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const text = await readText(call)
  let value: unknown
  try {
    value = text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    throw badRequest('The body', 'is no JSON')
  }
  return checkedObject(value, 'The body', allowed)
}

/** The body as text; read from the socket, so that what is too large is never held. */
async function readText({ env: { incoming }, req }: AdminCall): Promise<string> {
  const body =
    incoming === undefined
      ? new Uint8Array(await req.arrayBuffer())
      : await readBody(incoming, MAX_BODY_BYTES)
  if (body === 'aborted') throw badRequest('The body', 'ended before all of it was sent')
  if (body === 'too_large' || body.length > MAX_BODY_BYTES) {
    throw new BodyTooLarge('bad_request', 'The body is larger than 64 KiB.', {
      hint: 'Split the request into smaller ones.',
    })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw badRequest('The body', 'is no UTF-8 text')
  }
}

/** A JSON object without other keys than the allowed ones. */
export function checkedObject(
  value: unknown,
  name: string,
  allowed: readonly string[],
): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badRequest(name, 'must be a JSON object')
  for (const key of Object.keys(value)) {
    if (!allowed.includes(key))
      throw badRequest(key, 'is no key of this request', `Known: ${allowed.join(', ')}.`)
  }
  return value as Readonly<Record<string, unknown>>
}
