/**
 * The profile language: everything that is known about a kind of network, as data. A profile holds no code
 * and no pattern that decides about money; every choice is a word from a short list.
 *
 * Each construct is a union told apart by its key, so that a new family is a new member and nothing that
 * exists changes. `validateProfile` in the catalogue refuses by name what this version does not read.
 *
 * @module
 */
import type { Outcome } from '../outcome.js'

export const METHODS = ['GET', 'POST'] as const
export type Method = (typeof METHODS)[number]

/** Roles with a meaning of their own; a profile may name further ones and use them in keys and conditions. */
export const ROLES = [
  'transactionId',
  'user',
  'amount',
  'status',
  'eventId',
  'offer',
  'payout',
  'signature',
] as const

/** Where a value is found. `parameter` is the query or the form, whichever the call used. */
export type FieldSource =
  | { readonly query: string }
  | { readonly form: string }
  | { readonly parameter: string }
  | { readonly json: string }
  | { readonly header: string }

export type FieldSpec = FieldSource & {
  /** Absent and empty are the same; for `user` and `amount`, only a reversal may do without. */
  readonly optional?: boolean
  /** What an absent value counts as in the entry rules; it is never part of a signed message. */
  readonly default?: string
  /** Of `amount` only: see `UNIT`. */
  readonly unit?: string
}

/**
 * The units of an amount: `coins`; `minor` (hundredths of the network's own unit); a currency code (`usd`);
 * or a hundredth of one (`usd-cents`). All but `coins` need a rate from the configuration.
 */
export const UNIT = /^(coins|minor|[a-z]{3}(-cents)?)$/

/** All parameters, sorted by name. */
export interface SortedPairs {
  /** Roles left out of the message. */
  readonly without: readonly string[]
  readonly pair: string
  readonly keyValue: string
  readonly values: 'decoded' | 'raw'
}

/**
 * The raw query without the signature, or up to it. Only the roles in `after` may follow the signature:
 * what follows it is not signed.
 */
export type QueryPart =
  { readonly without: string } | { readonly before: string; readonly after: readonly string[] }

export type MessageSpec =
  | { readonly template: string; readonly values: 'received' | 'raw' }
  | { readonly sortedPairs: SortedPairs }
  | { readonly query: QueryPart }
  | { readonly url: { readonly without: string } }
  | { readonly body: 'raw' }

export const DIGESTS = ['md5', 'sha1', 'sha256'] as const
export type DigestName = (typeof DIGESTS)[number]

export type DigestSpec = { readonly hmac: DigestName; readonly key: 'secret' } | { readonly hash: DigestName }

export const ENCODINGS = ['hex', 'base64', 'base64url'] as const
export type SignatureEncoding = (typeof ENCODINGS)[number]

export type SignatureSpec =
  | {
      readonly message: MessageSpec
      readonly digest: DigestSpec
      readonly encoding: SignatureEncoding
      /** Text before the encoded digest, such as `sha256=`. */
      readonly prefix: string
    }
  /** The field `signature` carries the secret itself. */
  | { readonly token: 'secret' }

/** A received text: equal to the word, to one of the words, or beginning with one. */
export type Condition =
  string | readonly string[] | { readonly equals: string } | { readonly startsWith: string }

/** All conditions must hold. */
export type When = Readonly<Record<string, Condition>>

/** `by-sign`: a negative amount is a reversal; for networks that send no status. */
export const ENTRY_WORDS = ['credit', 'reversal', 'by-sign', 'ignored', 'held'] as const
export type EntryWord = (typeof ENTRY_WORDS)[number]

export interface EntryRule {
  readonly when: When
  readonly is: EntryWord
}

export const AMOUNT_SIGNS = ['positive', 'signed', 'negative-on-reversal'] as const
/**
 * `positive`: an amount is never negative. `negative-on-reversal`: a reversal's amount is, a credit's never.
 * `signed`: the same, and `by-sign` may decide which of the two a call is.
 */
export type AmountSign = (typeof AMOUNT_SIGNS)[number]

/** How a reversal names the credit that it takes back. */
export type ReversalOf =
  | { readonly kind: 'same' }
  | { readonly kind: 'field'; readonly field: string }
  | { readonly kind: 'stripPrefix'; readonly prefix: string }

export const TEST_MODES = ['credit', 'record'] as const
export type TestMode = (typeof TEST_MODES)[number]

export interface TestRule {
  readonly when: When
  readonly default: TestMode
}

export const ANSWER_GROUPS = ['booked', 'duplicate', 'unverified'] as const
export type AnswerGroup = (typeof ANSWER_GROUPS)[number]

/** A status and a short text that may hold `{eventId}`, `{transactionId}` and `{user}`. */
export interface AnswerTemplate {
  readonly status: number
  readonly body: string
}

export type AnswerTemplates = Readonly<Partial<Record<Outcome | AnswerGroup, AnswerTemplate>>>

/** Which answers end a network's retries, where that is not simply every 2xx. */
export interface DeliveredRule {
  readonly statuses: readonly number[] | null
  readonly bodies: readonly string[] | null
}

export interface ProfileSource {
  readonly url: string
  readonly readOn: string | null
  readonly official: boolean
}

export interface NetworkProfile {
  readonly id: string
  readonly name: string
  readonly sources: readonly ProfileSource[]
  readonly methods: readonly Method[]
  readonly fields: Readonly<Record<string, FieldSpec>>
  /** The query to paste at the network, with the network's own macros; null where calls carry no query. */
  readonly urlTemplate: string | null
  readonly signature: SignatureSpec | null
  readonly entry: readonly EntryRule[]
  readonly otherwise: 'ignored' | 'malformed'
  readonly amountSign: AmountSign
  /** The roles whose values make the transaction key; the first is `transactionId` in nearly every profile. */
  readonly key: readonly string[]
  readonly reversalOf: ReversalOf
  readonly test: TestRule | null
  readonly answers: AnswerTemplates
  readonly delivered: DeliveredRule
  readonly timeBudgetMs: number
  readonly retries: readonly string[]
  readonly addresses: { readonly readOn: string | null; readonly list: readonly string[] }
  /** True where the formula stands on third-party code alone. */
  readonly unconfirmed: boolean
}

/** The text that names where a field is found, such as the parameter's name. */
export function wireName(spec: FieldSource): string {
  if ('query' in spec) return spec.query
  if ('form' in spec) return spec.form
  if ('parameter' in spec) return spec.parameter
  if ('json' in spec) return spec.json
  return spec.header
}

/** The unit of a profile's amount. */
export function unitOf(profile: NetworkProfile): string {
  return profile.fields['amount']?.unit ?? 'coins'
}
