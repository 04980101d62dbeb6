/**
 * A strict JSON reader that keeps numbers as they were written. `JSON.parse` makes a JavaScript number of
 * every amount, so that 9007199254740993 arrives as 9007199254740992, and hides repeated names.
 *
 * @module
 */
import { receivedBytes, type Received } from './query.js'

/** A value of a JSON document; lists are read for their grammar only, because no field is found in one. */
export type JsonValue =
  | { readonly kind: 'value'; readonly value: Received }
  | { readonly kind: 'null' }
  | { readonly kind: 'list' }
  | {
      readonly kind: 'object'
      readonly members: ReadonlyMap<string, JsonValue>
      readonly repeated: ReadonlySet<string>
    }

/** What stands at a path: a value, nothing (also for null), something that is no single value, or two of it. */
export type JsonFinding = Received | 'absent' | 'structure' | 'repeated'

/** Reads a whole document, or returns null where the bytes are not JSON. */
export function readJson(body: Buffer): JsonValue | null {
  try {
    return new JsonReader(body).document()
  } catch (error) {
    if (error instanceof NotJson) return null
    throw error
  }
}

/** Follows a path of names; a name that stands twice on the way makes the finding `repeated`. */
export function findInJson(root: JsonValue, path: readonly string[]): JsonFinding {
  let current: JsonValue | undefined = root
  for (const name of path) {
    if (current?.kind !== 'object') return current === undefined ? 'absent' : 'structure'
    if (current.repeated.has(name)) return 'repeated'
    current = current.members.get(name)
  }
  if (current === undefined || current.kind === 'null') return 'absent'
  return current.kind === 'value' ? current.value : 'structure'
}

class NotJson extends Error {}

const MAX_DEPTH = 32
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const SPACE = /[ \t\r\n]*/y
const HEX = /^[0-9A-Fa-f]{4}$/
// eslint-disable-next-line no-control-regex -- JSON forbids control characters inside a string.
const STRING_RUN = /[^"\\\u0000-\u001f]*/y
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/** Reads one character a byte, so that text which is not UTF-8 spoils its own value and nothing else. */
class JsonReader {
  readonly #text: string
  #at = 0

  constructor(body: Buffer) {
    const text = body.toString('latin1')
    this.#text = text.startsWith('\u00ef\u00bb\u00bf') ? text.slice(3) : text
  }

  document(): JsonValue {
    const value = this.#value(0)
    this.#match(SPACE)
    if (this.#at !== this.#text.length) throw new NotJson()
    return value
  }

  #value(depth: number): JsonValue {
    if (depth > MAX_DEPTH) throw new NotJson()
    this.#match(SPACE)
    const next = this.#text[this.#at]
    if (next === '{') return this.#object(depth)
    if (next === '[') return this.#list(depth)
    if (next === '"') return { kind: 'value', value: this.#string() }
    if (this.#skip('null')) return { kind: 'null' }
    for (const word of ['true', 'false']) {
      if (this.#skip(word)) return { kind: 'value', value: { raw: word, text: word, bytes: null } }
    }
    const number = this.#match(NUMBER)
    if (number === '') throw new NotJson()
    return { kind: 'value', value: { raw: number, text: number, bytes: null } }
  }

  #object(depth: number): JsonValue {
    const members = new Map<string, JsonValue>()
    const repeated = new Set<string>()
    this.#at += 1
    this.#match(SPACE)
    if (this.#skip('}')) return { kind: 'object', members, repeated }
    do {
      this.#match(SPACE)
      if (this.#text[this.#at] !== '"') throw new NotJson()
      const { text, raw } = this.#string()
      const name = text ?? raw
      this.#match(SPACE)
      if (!this.#skip(':')) throw new NotJson()
      if (members.has(name)) repeated.add(name)
      members.set(name, this.#value(depth + 1))
      this.#match(SPACE)
    } while (this.#skip(','))
    if (!this.#skip('}')) throw new NotJson()
    return { kind: 'object', members, repeated }
  }

  #list(depth: number): JsonValue {
    this.#at += 1
    this.#match(SPACE)
    if (this.#skip(']')) return { kind: 'list' }
    do {
      this.#value(depth + 1)
      this.#match(SPACE)
    } while (this.#skip(','))
    if (!this.#skip(']')) throw new NotJson()
    return { kind: 'list' }
  }

  #string(): Received {
    const start = this.#at
    const parts: Buffer[] = []
    this.#at += 1
    for (;;) {
      parts.push(Buffer.from(this.#match(STRING_RUN), 'latin1'))
      const next = this.#text[this.#at]
      this.#at += 1
      if (next === '"') break
      if (next !== '\\') throw new NotJson()
      parts.push(this.#escape())
    }
    const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
    return receivedBytes(this.#text.slice(start, this.#at), bytes)
  }

  #escape(): Buffer {
    const letter = this.#text[this.#at] ?? ''
    this.#at += 1
    if (letter !== 'u') {
      const plain = ESCAPES[letter]
      if (plain === undefined) throw new NotJson()
      return Buffer.from(plain)
    }
    const unit = this.#codeUnit()
    if (isHighSurrogate(unit) && this.#text.startsWith('\\u', this.#at)) {
      const before = this.#at
      this.#at += 2
      const low = this.#codeUnit()
      if (low >= 0xdc00 && low <= 0xdfff) return Buffer.from(String.fromCharCode(unit, low))
      this.#at = before
    }
    if (unit >= 0xd800 && unit <= 0xdfff) return surrogateBytes(unit)
    return Buffer.from(String.fromCharCode(unit))
  }

  #codeUnit(): number {
    const digits = this.#text.slice(this.#at, this.#at + 4)
    if (!HEX.test(digits)) throw new NotJson()
    this.#at += 4
    return Number.parseInt(digits, 16)
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  #skip(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

/** Half a pair is no character: these bytes are not UTF-8, so that the value is known to be unreadable. */
function surrogateBytes(unit: number): Buffer {
  return Buffer.from([0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)])
}
