/**
 * A configured network, resolved: its profile with the configuration's names, secrets and limits, arranged
 * once so that a call is read without looking anything up again.
 *
 * @module
 */
import type { KeyObject } from 'node:crypto'
import { parseDecimal, type Rounding } from '../money.js'
import type { AddressList } from './addresses.js'
import type { AmountRule } from './amount.js'
import type { NetworkAnswers } from './answers.js'
import { expectFields, expectWord } from './config-fault.js'
import { planFields, type FieldPlan } from './fields.js'
import {
  checkName,
  readAllowedIps,
  readIdPattern,
  readIdSpace,
  readNetworkAnswers,
  readPaths,
  readPublicUrl,
  readRate,
  readSecrets,
  readTexts,
} from './network-checks.js'
import { renameFields } from './params.js'
import { TEST_MODES, unitOf, type Method, type NetworkProfile, type TestMode } from './profile.js'
import { compileSignature, type SignatureCheck } from './signature.js'

export { unitOf } from './profile.js'

/** One network of the configuration; secrets given by variable or file have been read before. */
export interface NetworkConfig {
  readonly profile: unknown
  readonly secret?: string
  readonly previousSecrets?: readonly string[]
  readonly params?: Readonly<Record<string, string>>
  readonly paths?: readonly string[]
  readonly publicUrl?: string
  readonly idSpace?: string
  readonly formerly?: readonly string[]
  readonly answers?: Readonly<Record<string, { readonly status: number; readonly body: string }>>
  readonly acceptLoss?: boolean
  readonly tests?: TestMode
  readonly allowedIps?: readonly string[]
  readonly rate?: string
  readonly rounding?: Rounding
  readonly idPattern?: string
}

export interface Network {
  readonly name: string
  readonly profile: NetworkProfile
  readonly methods: readonly Method[]
  readonly idSpace: string
  readonly formerly: readonly string[]
  readonly paths: readonly string[]
  readonly publicUrl: string | null
  readonly fields: FieldPlan
  /** Closes over the secrets, so that a logged network shows none. */
  readonly verify: SignatureCheck
  /** Current first; key objects do not show their bytes. */
  readonly secrets: readonly KeyObject[]
  readonly amounts: AmountRule
  /** The rate as configured. */
  readonly rate: string | null
  readonly allowedIps: AddressList | null
  readonly tests: TestMode
  readonly answers: NetworkAnswers
  readonly idPattern: RegExp | null
  readonly timeBudgetMs: number
  /** Header names that a later check of the kept call needs. */
  readonly keptHeaders: readonly string[]
}

/** Turns a catalogue name or an inline profile into a checked profile, or throws `config_invalid`. */
export type ProfileLookUp = (reference: unknown, key: string) => NetworkProfile

export interface ResolveOptions {
  /** The receiver's own public address; a network's own stands before it. */
  readonly publicUrl?: string | null
}

const KEYS = [
  'profile',
  'secret',
  'previousSecrets',
  'params',
  'paths',
  'publicUrl',
  'idSpace',
  'formerly',
  'answers',
  'acceptLoss',
  'tests',
  'allowedIps',
  'rate',
  'rounding',
  'idPattern',
] as const

const ROUNDINGS = ['reject', 'down', 'half-even'] as const

/**
 * Checks one network of the configuration and arranges it.
 *
 * @throws PaidonceError `config_invalid` with the key, the value and what was expected.
 */
export function resolveNetwork(
  name: string,
  config: unknown,
  lookUpProfile: ProfileLookUp,
  options: ResolveOptions = {},
): Network {
  const key = `networks.${name}`
  checkName(name, key)
  const given = expectFields(config, key, KEYS)
  const found = lookUpProfile(given['profile'], `${key}.profile`)
  const profile = renameFields(found, given['params'], `${key}.params`)
  const fields = planFields(profile.fields)
  const secrets = readSecrets(given, key, profile)
  const publicUrl = readPublicUrl(given['publicUrl'] ?? options.publicUrl ?? undefined, key, profile)
  const allowedIps = readAllowedIps(given['allowedIps'], key, profile)
  const answers = readNetworkAnswers(given, key, profile)
  const rate = readRate(given['rate'], key, profile)
  return {
    name,
    profile,
    methods: profile.methods,
    idSpace: given['idSpace'] === undefined ? name : readIdSpace(given['idSpace'], `${key}.idSpace`),
    formerly: readTexts(given['formerly'], `${key}.formerly`),
    paths: readPaths(given['paths'], `${key}.paths`),
    publicUrl,
    fields,
    verify: compileSignature(profile.signature, fields, secrets, publicUrl),
    secrets,
    amounts: {
      unit: unitOf(profile),
      rate: rate === null ? null : parseDecimal(rate),
      rounding:
        given['rounding'] === undefined
          ? 'reject'
          : expectWord(given['rounding'], `${key}.rounding`, ROUNDINGS),
    },
    rate,
    allowedIps,
    tests:
      given['tests'] === undefined
        ? (profile.test?.default ?? 'record')
        : expectWord(given['tests'], `${key}.tests`, TEST_MODES),
    answers,
    idPattern: readIdPattern(given['idPattern'], `${key}.idPattern`),
    timeBudgetMs: profile.timeBudgetMs,
    keptHeaders: [...new Set([...KEPT_HEADERS, ...fields.headers.map((field) => field.name)])],
  }
}

/** Headers that help to explain a call; the others may hold what nobody should keep. */
const KEPT_HEADERS = ['content-type', 'user-agent', 'x-forwarded-for', 'forwarded', 'x-real-ip', 'host']
