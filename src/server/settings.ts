/**
 * The settings of the server: what a configuration file may hold, and what it becomes once every source was read.
 *
 * @module
 */
import type { UnknownUserPolicy } from '../ledger/decide.js'
import type { WalletTable } from '../ledger/store.js'
import type { Rounding } from '../money.js'
import type { AnswerTemplates, TestMode } from '../postback/profile.js'

/** Where a secret comes from: the text itself, an environment variable, or a file. */
export type SecretSource = string | { readonly env: string } | { readonly file: string }

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const ISOLATIONS = ['read committed', 'serializable'] as const
export type Isolation = (typeof ISOLATIONS)[number]

export const MIGRATE_MODES = ['auto', 'check', 'off'] as const
export type MigrateMode = (typeof MIGRATE_MODES)[number]

/** False, the number of proxies in front, or their addresses and CIDRs. */
export type TrustProxy = false | number | readonly string[]

/** What `networks.NAME` and the resolved network have in common. */
interface NetworkChoices {
  /** A name of the catalogue, or a whole profile as JSON (see docs/reference/profile.md); checked at start. */
  readonly profile: string | object
  /** New names for parameters that the publisher names. */
  readonly params?: Readonly<Record<string, string>>
  /** Further exact paths that reach this network. */
  readonly paths?: readonly string[]
  /** The origin (and path) that this network calls, where its signature covers the URL. */
  readonly publicUrl?: string
  /** First part of the idempotency key; the network's name unless given. */
  readonly idSpace?: string
  /** Names under which this network's entries were booked before. */
  readonly formerly?: readonly string[]
  readonly answers?: AnswerTemplates
  /** Allows an answer that ends the network's retries for a call that was not booked. */
  readonly acceptLoss?: boolean
  readonly tests?: TestMode
  readonly allowedIps?: readonly string[]
  /** Coins per unit of the payout, as decimal text. */
  readonly rate?: string
  readonly rounding?: Rounding
  /** An anchored regular expression that every transaction id must match. */
  readonly idPattern?: string
}

/** One entry of `networks` in a configuration file. */
export interface NetworkEntry extends NetworkChoices {
  /** Required unless the profile signs nothing. */
  readonly secret?: SecretSource
  /** Secrets that are still accepted while the network changes to the new one. */
  readonly previousSecrets?: readonly SecretSource[]
}

/** One network with its secrets read. */
export interface NetworkSettings extends NetworkChoices {
  readonly secret?: string
  readonly previousSecrets?: readonly string[]
}

/** Retention of the inbox in days, and the cap for calls that could not be verified. */
export interface InboxSettings {
  readonly verifiedDays: number
  readonly rejectedDays: number
  readonly rejectedPerMinute: number
}

/** What a configuration file may hold. */
export interface PaidonceConfig {
  readonly database?: string
  readonly port?: number
  readonly host?: string
  readonly adminPort?: number
  readonly publicUrl?: string
  readonly trustProxy?: TrustProxy
  readonly logLevel?: LogLevel
  readonly amountScale?: number
  readonly unknownUser?: UnknownUserPolicy
  readonly wallets?: WalletTable
  readonly tables?: { readonly prefix?: string; readonly schema?: string }
  readonly migrate?: MigrateMode
  readonly inbox?: Partial<InboxSettings>
  readonly outbox?: boolean
  readonly ledgerId?: string
  readonly pooler?: boolean
  readonly isolation?: Isolation
  /** Seconds that calls are still served after the server was told to stop. */
  readonly shutdownDelay?: number
  readonly networks?: Readonly<Record<string, NetworkEntry>>
}

/** Every setting with its value. Holds secrets: never log it whole. */
export interface Settings {
  /** Absolute path of the file that was read, or null. */
  readonly configFile: string | null
  readonly database: string
  readonly port: number
  readonly host: string
  /** Null: the same port. */
  readonly adminPort: number | null
  /** Null: generated at the first start. */
  readonly adminToken: string | null
  readonly publicUrl: string | null
  readonly trustProxy: TrustProxy
  readonly logLevel: LogLevel
  readonly amountScale: number
  readonly unknownUser: UnknownUserPolicy
  readonly wallets: WalletTable | null
  readonly tables: { readonly prefix: string; readonly schema?: string }
  readonly migrate: MigrateMode
  readonly inbox: InboxSettings
  readonly outbox: boolean
  readonly ledgerId: string | null
  readonly pooler: boolean
  readonly isolation: Isolation
  readonly shutdownDelay: number
  readonly networks: Readonly<Record<string, NetworkSettings>>
}

export const DEFAULT_SETTINGS: Settings = Object.freeze({
  configFile: null,
  database: 'sqlite:./data/paidonce.db',
  port: 8790,
  host: '127.0.0.1',
  adminPort: null,
  adminToken: null,
  publicUrl: null,
  trustProxy: false,
  logLevel: 'info',
  amountScale: 3,
  unknownUser: 'retry',
  wallets: null,
  tables: Object.freeze({ prefix: 'paidonce_' }),
  migrate: 'auto',
  inbox: Object.freeze({ verifiedDays: 400, rejectedDays: 30, rejectedPerMinute: 600 }),
  outbox: false,
  ledgerId: null,
  pooler: false,
  isolation: 'read committed',
  shutdownDelay: 0,
  networks: Object.freeze({}),
})

/**
 * Gives a configuration file its types; returns what it is given.
 *
 * @example
 * ```ts
 * import { defineConfig } from 'paidonce'
 *
 * export default defineConfig({
 *   database: 'sqlite:./data/paidonce.db',
 *   networks: { sharklio: { profile: 'sharklio', secret: { env: 'SHARKLIO_POSTBACK_KEY' } } },
 * })
 * ```
 */
export function defineConfig(config: PaidonceConfig): PaidonceConfig {
  return config
}
