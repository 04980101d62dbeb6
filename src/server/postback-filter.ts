/**
 * The inbox filter, as query parameters or as JSON: the same names, the same rules.
 *
 * @module
 */
import type { PostbackFilter } from '../ledger/store.js'
import { OUTCOMES, type Outcome } from '../outcome.js'
import { badRequest } from './api-error.js'
import { checkedId, readBoolean, readTime } from './request-values.js'
import { orList } from './setting-rules.js'

export const FILTER_KEYS = [
  'network',
  'user',
  'transactionId',
  'outcome',
  'open',
  'since',
  'until',
  'q',
] as const

/** Reads a filter whose values are texts or lists of texts. */
export function readFilter(given: Readonly<Record<string, unknown>>): PostbackFilter {
  const open = readBoolean(only(given, 'open'), 'open')
  const since = readTime(only(given, 'since'), 'since')
  const until = readTime(only(given, 'until'), 'until')
  const q = only(given, 'q')
  if (q !== undefined && (typeof q !== 'string' || q === '')) throw badRequest('q', 'must be text')
  return {
    ...ids(given, 'network'),
    ...ids(given, 'user'),
    ...ids(given, 'transactionId'),
    ...outcomes(given),
    ...(open === undefined ? {} : { open }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(q === undefined ? {} : { q }),
  }
}

function list(given: Readonly<Record<string, unknown>>, name: string): readonly unknown[] | null {
  const value = given[name]
  if (value === undefined) return null
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  // An empty list would mean nothing to one store and everything to another.
  if (values.length === 0 || values.length > 100) throw badRequest(name, 'must have 1 to 100 values')
  return values
}

function only(given: Readonly<Record<string, unknown>>, name: string): unknown {
  const values = list(given, name)
  if (values !== null && values.length > 1) throw badRequest(name, 'may be given once only')
  return values?.[0]
}

function ids(
  given: Readonly<Record<string, unknown>>,
  name: 'network' | 'user' | 'transactionId',
): Partial<Record<'network' | 'user' | 'transactionId', readonly string[]>> {
  const values = list(given, name)
  return values === null ? {} : { [name]: values.map((value) => checkedId(value, name)) }
}

function outcomes(given: Readonly<Record<string, unknown>>): { readonly outcome?: readonly Outcome[] } {
  const values = list(given, 'outcome')
  if (values === null) return {}
  const known: readonly unknown[] = OUTCOMES
  if (values.some((value) => !known.includes(value)))
    throw badRequest('outcome', `must be ${orList(OUTCOMES)}`)
  return { outcome: values as readonly Outcome[] }
}
