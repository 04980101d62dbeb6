/**
 * The shape of a configuration file. Loaded lazily: zod takes a tenth of a second to import, which most commands of
 * the command line need not pay.
 *
 * @module
 */
import { z } from 'zod'
import { OUTCOMES } from '../outcome.js'
import { ANSWER_GROUPS, TEST_MODES } from '../postback/profile.js'
import {
  ADDRESS,
  ANSWER_BODY,
  ANSWER_STATUS,
  BOOLEAN,
  HTTP_URL,
  ID_PATTERN,
  ID_SPACE,
  NAME,
  PATH,
  RATE,
  SETTING_RULES,
  wordOf,
  type SettingRule,
} from './setting-rules.js'
import type { PaidonceConfig } from './settings.js'

/** One thing that is wrong with a configuration, before it is put into words. */
export interface ConfigFault {
  readonly path: readonly (string | number)[]
  /** Completes "expected ..."; null where the key itself is unknown. */
  readonly expected: string | null
  /** The keys that are allowed where an unknown one was found. */
  readonly knownKeys: readonly string[]
}

type Shape = Record<string, z.ZodType>

const rule = ({ expected, accepts }: SettingRule): z.ZodType => z.custom(accepts, { error: expected })
const maybe = (of: SettingRule): z.ZodType => rule(of).optional()
const listOf = (item: z.ZodType, expected: string): z.ZodType => z.array(item, { error: expected })

/** An object without further keys; the message of an unknown key carries the known ones, for `faultsOf`. */
function object(shape: Shape, expected: string): z.ZodType {
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? Object.keys(shape).join(',') : expected),
  })
}

function isSecretSource(value: unknown): boolean {
  if (typeof value === 'string') return true
  if (typeof value !== 'object' || value === null) return false
  const entries = Object.entries(value)
  const [key, name] = entries[0] ?? []
  return entries.length === 1 && (key === 'env' || key === 'file') && typeof name === 'string' && name !== ''
}

const SECRET = z.custom(isSecretSource, { error: 'text, { "env": "NAME" } or { "file": "PATH" }' })

const PROFILE = z.custom((value) => (typeof value === 'string' ? value !== '' : isPlainObject(value)), {
  error: 'a name from "paidonce networks list", or an inline profile',
})

function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const ANSWER = object({ status: rule(ANSWER_STATUS), body: rule(ANSWER_BODY) }, 'an object { status, body }')

const NETWORK = object(
  {
    profile: PROFILE,
    // A profile that signs nothing has no secret; for any other, the receiver refuses a missing one.
    secret: SECRET.optional(),
    previousSecrets: listOf(SECRET, 'a list of secrets').optional(),
    params: z.record(z.string(), rule(NAME), { error: 'an object { role: parameter name }' }).optional(),
    paths: listOf(rule(PATH), 'a list of paths').optional(),
    publicUrl: maybe(HTTP_URL),
    idSpace: maybe(ID_SPACE),
    formerly: listOf(rule(ID_SPACE), 'a list of network names').optional(),
    answers: object(
      Object.fromEntries([...OUTCOMES, ...ANSWER_GROUPS].map((name) => [name, ANSWER.optional()])),
      'an object { outcome: { status, body } }',
    ).optional(),
    acceptLoss: maybe(BOOLEAN),
    tests: maybe(wordOf(TEST_MODES)),
    allowedIps: listOf(rule(ADDRESS), 'a list of IP addresses and CIDRs').optional(),
    rate: maybe(RATE),
    rounding: maybe(wordOf(['reject', 'down', 'half-even'])),
    idPattern: maybe(ID_PATTERN),
  },
  'an object with at least "profile"',
)

const CONFIG = object(
  {
    database: maybe(SETTING_RULES.database),
    port: maybe(SETTING_RULES.port),
    host: maybe(SETTING_RULES.host),
    adminPort: maybe(SETTING_RULES.adminPort),
    publicUrl: maybe(SETTING_RULES.publicUrl),
    trustProxy: maybe(SETTING_RULES.trustProxy),
    logLevel: maybe(SETTING_RULES.logLevel),
    amountScale: maybe(SETTING_RULES.amountScale),
    unknownUser: maybe(SETTING_RULES.unknownUser),
    wallets: object(
      { table: rule(NAME), id: rule(NAME), balance: rule(NAME), schema: maybe(NAME) },
      'an object { table, id, balance, schema? }',
    ).optional(),
    tables: object({ prefix: maybe(NAME), schema: maybe(NAME) }, 'an object { prefix, schema? }').optional(),
    migrate: maybe(SETTING_RULES.migrate),
    inbox: object(
      {
        verifiedDays: maybe(SETTING_RULES.verifiedDays),
        rejectedDays: maybe(SETTING_RULES.rejectedDays),
        rejectedPerMinute: maybe(SETTING_RULES.rejectedPerMinute),
      },
      'an object { verifiedDays, rejectedDays, rejectedPerMinute }',
    ).optional(),
    outbox: maybe(BOOLEAN),
    ledgerId: maybe(SETTING_RULES.ledgerId),
    pooler: maybe(BOOLEAN),
    isolation: maybe(SETTING_RULES.isolation),
    shutdownDelay: maybe(SETTING_RULES.shutdownDelay),
    networks: z.record(z.string(), NETWORK, { error: 'an object { NAME: network }' }).optional(),
  },
  'an object (see "defineConfig")',
)

/** Checks the shape of a configuration; everything that is wrong at once, or the configuration with its type. */
export function checkConfig(
  config: unknown,
): { readonly config: PaidonceConfig } | { readonly faults: readonly ConfigFault[] } {
  const checked = CONFIG.safeParse(config)
  if (checked.success) return { config: checked.data as PaidonceConfig }
  return { faults: checked.error.issues.flatMap(faultsOf) }
}

function faultsOf(issue: z.core.$ZodIssue): ConfigFault[] {
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))
  if (issue.code !== 'unrecognized_keys') return [{ path, expected: issue.message, knownKeys: [] }]
  const knownKeys = issue.message.split(',')
  return issue.keys.map((key) => ({ path: [...path, key], expected: null, knownKeys }))
}
