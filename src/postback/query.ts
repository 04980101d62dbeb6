/**
 * Takes a raw query or form apart, once: every later step sees the same names and the same bytes.
 *
 * Node's own parsers are not used: they fold different bytes into U+FFFD, so that two ids become one, and
 * they hide or merge repeated names.
 *
 * @module
 */

/** One value as it was received. */
export interface Received {
  /** The undecoded text of the request, one character a byte. */
  readonly raw: string
  /** The decoded text, or null where its bytes are not UTF-8. */
  readonly text: string | null
  /** The decoded bytes; null where `text` says the same. */
  readonly bytes: Buffer | null
}

/** One `name=value` pair; its value is decoded on demand, because most calls carry names that nobody reads. */
export interface Parameter {
  /** The decoded name, or null where its bytes are not UTF-8. */
  readonly name: string | null
  readonly rawName: string
  readonly rawValue: string
  /** Where the pair begins and ends in the raw text. */
  readonly start: number
  readonly end: number
}

/**
 * Splits a raw query or form at `&` and at the first `=`; `;` separates nothing. Repeated names are kept,
 * empty segments are left out, and a segment without `=` has an empty value.
 */
export function splitParameters(text: string): Parameter[] {
  const parameters: Parameter[] = []
  let start = 0
  while (start < text.length) {
    const ampersand = text.indexOf('&', start)
    const end = ampersand < 0 ? text.length : ampersand
    if (end > start) {
      const equals = text.indexOf('=', start)
      const nameEnd = equals < 0 || equals > end ? end : equals
      const rawName = text.slice(start, nameEnd)
      const rawValue = nameEnd < end ? text.slice(nameEnd + 1, end) : ''
      parameters.push({ name: decodeText(rawName), rawName, rawValue, start, end })
    }
    start = end + 1
  }
  return parameters
}

/**
 * Decodes one raw value: `+` is a space, `%41` a byte, a broken escape such as `%zz` or `%u010D` stays as it
 * is. The bytes are then read as strict UTF-8.
 */
export function decodeValue(raw: string): Received {
  if (isPlain(raw)) return { raw, text: raw, bytes: null }
  return receivedBytes(raw, decodeBytes(raw))
}

/** A value of bytes that need no decoding, or no more of it. */
export function receivedBytes(raw: string, bytes: Buffer): Received {
  const text = strictText(bytes)
  return { raw, text, bytes: text === null ? bytes : null }
}

/** The decoded bytes of a value, for messages that are signed. */
export function bytesOf(value: Received): Buffer {
  return value.bytes ?? Buffer.from(value.text ?? '')
}

// A byte order mark is part of an id like every other character; by default the decoder would drop it and
// make two ids one.
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function strictText(bytes: Buffer): string | null {
  try {
    return STRICT_UTF8.decode(bytes)
  } catch {
    return null
  }
}

function decodeText(raw: string): string | null {
  return isPlain(raw) ? raw : strictText(decodeBytes(raw))
}

function isPlain(raw: string): boolean {
  for (let index = 0; index < raw.length; index += 1) {
    const code = raw.charCodeAt(index)
    if (code === PERCENT || code === PLUS || code > 0x7e) return false
  }
  return true
}

const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20

/** Decodes in place: the result is never longer than the text. */
function decodeBytes(raw: string): Buffer {
  const bytes = Buffer.from(raw, 'latin1')
  let length = 0
  for (let index = 0; index < bytes.length; index += 1) {
    let byte = bytes[index] ?? 0
    if (byte === PLUS) byte = SPACE
    else if (byte === PERCENT) {
      const high = hexDigit(bytes[index + 1])
      const low = hexDigit(bytes[index + 2])
      if (high >= 0 && low >= 0) {
        byte = high * 16 + low
        index += 2
      }
    }
    bytes[length] = byte
    length += 1
  }
  return bytes.subarray(0, length)
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
