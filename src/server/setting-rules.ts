/**
 * What every single value of the settings must look like, in words for the reader and as a check. The same rules
 * judge flags, environment variables and the configuration file.
 *
 * @module
 */
import { isIP } from 'node:net'
import { idFault, RESERVED_ID_SPACE } from '../ids.js'
import { parseDecimal } from '../money.js'
import { ISOLATIONS, LOG_LEVELS, MIGRATE_MODES } from './settings.js'

/** One rule: `expected` completes the sentence "expected ...". */
export interface SettingRule {
  readonly expected: string
  readonly accepts: (value: unknown) => boolean
  /** Reads the value out of a flag or an environment variable; text that cannot be read is left as it is. */
  readonly fromText: (text: string) => unknown
}

const asIs = (text: string): unknown => text
const asWholeNumber = (text: string): unknown => (/^\d{1,9}$/.test(text) ? Number(text) : text)
const asBoolean = (text: string): unknown => (text === 'true' ? true : text === 'false' ? false : text)

/** A list of words, as in `"a", "b" or "c"`. */
export function orList(words: readonly string[]): string {
  const quoted = words.map((word) => JSON.stringify(word))
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1) ?? ''}`
}

function wholeNumber(from: number, to: number, unit = ''): SettingRule {
  return {
    expected: `a whole number${unit} from ${from} to ${to}`,
    accepts: (value) => typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to,
    fromText: asWholeNumber,
  }
}

export function wordOf(words: readonly string[]): SettingRule {
  return {
    expected: orList(words),
    accepts: (value) => typeof value === 'string' && words.includes(value),
    fromText: asIs,
  }
}

function text(expected: string, accepts: (value: string) => boolean): SettingRule {
  return { expected, accepts: (value) => typeof value === 'string' && accepts(value), fromText: asIs }
}

const PLAIN_TEXT = (value: string): boolean => value !== '' && value.trim() === value

/** Whether a text is an IP address, or one followed by `/` and a prefix length that fits it. */
export function isAddressOrCidr(value: string): boolean {
  const [address = '', prefix, ...more] = value.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
}

function isHttpUrl(value: string): boolean {
  if (!/^https?:\/\/[^\s?#]+$/i.test(value) || !URL.canParse(value)) return false
  const { username, password } = new URL(value)
  return username === '' && password === ''
}

function isAnchoredPattern(value: string): boolean {
  if (!value.startsWith('^') || !value.endsWith('$')) return false
  try {
    new RegExp(value, 'u')
    return true
  } catch {
    return false
  }
}

// eslint-disable-next-line no-control-regex -- control characters are exactly what this looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

const DATABASE = /^(sqlite:.+|(postgres|postgresql|mysql|mariadb):\/\/.+)$/

export const BOOLEAN: SettingRule = {
  expected: 'true or false',
  accepts: (value) => typeof value === 'boolean',
  fromText: asBoolean,
}

export const ADDRESS = text('an IP address or a CIDR such as "10.0.0.0/8"', isAddressOrCidr)
export const HTTP_URL = text('an http:// or https:// URL without user, query and fragment', isHttpUrl)
export const NAME = text('text without white space at its ends', PLAIN_TEXT)
export const PATH = text(
  'a path that begins with "/", in printable ASCII without "?", "#" or a slash at its end',
  (value) => /^\/[!-~]*[!-.0-~]$/.test(value) && !/[?#]/.test(value),
)
export const ID_SPACE = text(
  'an id of 1 to 255 bytes without control characters, not beginning with "paidonce:"',
  (value) => idFault(value) === null && !value.startsWith(RESERVED_ID_SPACE),
)
export const RATE = text('decimal text above zero such as "1000" or "0.75"', (value) => {
  const decimal = parseDecimal(value)
  return decimal !== null && decimal.digits > 0n
})
export const ID_PATTERN = text(
  'a regular expression that begins with "^" and ends with "$"',
  isAnchoredPattern,
)
export const ANSWER_STATUS: SettingRule = {
  expected: 'an HTTP status from 200 to 299 or 400 to 599 (networks do not follow redirects)',
  accepts: (value) =>
    typeof value === 'number' &&
    Number.isInteger(value) &&
    ((value >= 200 && value <= 299) || (value >= 400 && value <= 599)),
  fromText: asWholeNumber,
}
export const ANSWER_BODY = text(
  'text of at most 255 characters without control characters',
  (value) => value.length <= 255 && !CONTROL.test(value),
)

/** The rules of the plain settings, by their key. */
export const SETTING_RULES = {
  database: text(
    'sqlite:PATH, or a postgres://, postgresql://, mysql:// or mariadb:// URL',
    (value) => DATABASE.test(value) && (value.startsWith('sqlite:') || URL.canParse(value)),
  ),
  port: wholeNumber(0, 65535),
  host: text('an address or a host name to listen on', (value) => /^[A-Za-z0-9:._%-]+$/.test(value)),
  adminPort: wholeNumber(0, 65535),
  adminToken: text('text without white space', (value) => /^[!-~]+$/.test(value)),
  publicUrl: HTTP_URL,
  trustProxy: {
    expected: 'false, the number of proxies, or a list of their addresses and CIDRs',
    accepts: (value: unknown) =>
      value === false ||
      (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 32) ||
      (Array.isArray(value) && value.length > 0 && value.every((item) => ADDRESS.accepts(item))),
    fromText: (value: string) => {
      if (value === 'false') return false
      if (/^\d+$/.test(value)) return Number(value)
      return value.split(',').map((item) => item.trim())
    },
  },
  logLevel: wordOf(LOG_LEVELS),
  amountScale: wholeNumber(0, 6),
  unknownUser: wordOf(['retry', 'create', 'hold']),
  migrate: wordOf(MIGRATE_MODES),
  outbox: BOOLEAN,
  ledgerId: NAME,
  pooler: BOOLEAN,
  isolation: wordOf(ISOLATIONS),
  shutdownDelay: wholeNumber(0, 300, ' of seconds'),
  verifiedDays: wholeNumber(1, 36500, ' of days'),
  rejectedDays: wholeNumber(1, 36500, ' of days'),
  rejectedPerMinute: wholeNumber(0, 1_000_000),
} satisfies Record<string, SettingRule>
