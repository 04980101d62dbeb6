/**
 * Refusals of configuration and profiles, all worded alike: the key, the value, what was expected.
 *
 * @module
 */
import { PaidonceError } from '../errors.js'

/** An object read from a configuration or a profile. */
export type Fields = Readonly<Record<string, unknown>>

/** Builds the refusal of one value; a value that may be a secret is described, never shown. */
export function configFault(key: string, value: unknown, expected: string, hint?: string): PaidonceError {
  return new PaidonceError(
    'config_invalid',
    `${key} is ${shown(value)}; expected ${expected}.`,
    hint === undefined ? {} : { hint },
  )
}

/** The value as an object, its keys checked against a list. */
export function expectFields(value: unknown, key: string, allowed: readonly string[]): Fields {
  if (!isFields(value)) throw configFault(key, value, 'an object')
  for (const name of Object.keys(value)) {
    if (!allowed.includes(name)) throw unknownKey(key, name, allowed)
  }
  return value
}

/** The value as a text that is not empty. */
export function expectText(value: unknown, key: string): string {
  if (typeof value !== 'string' || value === '') throw configFault(key, value, 'a text that is not empty')
  return value
}

/** The value as one of a few words. */
export function expectWord<Word extends string>(value: unknown, key: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === value)
  if (word !== undefined) return word
  const near = typeof value === 'string' ? nearestName(value, words) : null
  throw configFault(key, value, listed(words), near === null ? undefined : `Did you mean "${near}"?`)
}

/** The value as a list. */
export function expectList(value: unknown, key: string): readonly unknown[] {
  if (!Array.isArray(value)) throw configFault(key, value, 'a list')
  return value
}

/** The value as true or false. */
export function expectFlag(value: unknown, key: string): boolean {
  if (typeof value !== 'boolean') throw configFault(key, value, 'true or false')
  return value
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Words as a sentence lists them: `"a", "b" or "c"`. */
export function listed(words: readonly string[]): string {
  const quoted = words.map((word) => JSON.stringify(word))
  if (quoted.length < 2) return quoted.join('')
  return `${quoted.slice(0, -1).join(', ')} or ${quoted[quoted.length - 1] ?? ''}`
}

/** The refusal of a key that nobody reads, because a misspelt key would be a setting that silently does nothing. */
export function unknownKey(key: string, name: string, allowed: readonly string[]): PaidonceError {
  const near = nearestName(name, allowed)
  return new PaidonceError(
    'config_invalid',
    `${key} has an unknown key "${name}"; expected ${listed(allowed)}.`,
    {
      hint: near === null ? 'Remove it.' : `Did you mean "${near}"?`,
    },
  )
}

/** The name that takes the fewest changes, or null where none is near. */
export function nearestName(name: string, names: readonly string[]): string | null {
  let nearest: string | null = null
  let fewest = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of names) {
    const changes = changesBetween(name.toLowerCase(), candidate.toLowerCase())
    if (changes < fewest) {
      nearest = candidate
      fewest = changes
    }
  }
  return nearest
}

/** Levenshtein's distance, one row at a time. */
function changesBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'a list'
  return isFields(value) ? 'an object' : JSON.stringify(value)
}
