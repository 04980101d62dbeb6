/**
 * Free text (an offer's name, a payout, a reason's detail) is for people: it is made presentable and never
 * fails a credit.
 *
 * @module
 */
import type { Received } from './query.js'

/** Longest free text in characters. */
export const MAX_FREE_TEXT = 255

const REPLACEMENT = '\ufffd'

// eslint-disable-next-line no-control-regex -- control characters are exactly what this replaces.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g

/** What can be shown of a received value: bad bytes and control characters become U+FFFD. */
export function presentable(value: Received): string {
  return presentableText(value.text ?? (value.bytes ?? Buffer.alloc(0)).toString('utf8'))
}

/** The same for text that is decoded already, cut to `limit` characters and never inside one. */
export function presentableText(text: string, limit = MAX_FREE_TEXT): string {
  const clean = text.replace(CONTROL, REPLACEMENT)
  if (clean.length <= limit) return clean
  return Array.from(clean.slice(0, limit * 2))
    .slice(0, limit)
    .join('')
}
