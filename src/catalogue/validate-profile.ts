/**
 * Checks a profile and fills in its defaults. A message names the path, the value and the allowed words;
 * a construct of the language that this version does not read is refused by name, never read halfway.
 *
 * @module
 */
import { readAnswers } from '../postback/answer-config.js'
import { addAddress } from '../postback/addresses.js'
import { BlockList } from 'node:net'
import {
  configFault,
  expectFields,
  expectFlag,
  expectList,
  expectText,
  expectWord,
  isFields,
} from '../postback/config-fault.js'
import { checkDistinct } from '../postback/params.js'
import {
  AMOUNT_SIGNS,
  METHODS,
  type DeliveredRule,
  type FieldSpec,
  type NetworkProfile,
  type ProfileSource,
} from '../postback/profile.js'
import { readEntryRules, readKey, readReversalOf, readTestRule } from './validate-entry.js'
import { readFields } from './validate-fields.js'
import { readSignature } from './validate-signature.js'

const KEYS = [
  '$schema',
  'id',
  'name',
  'sources',
  'methods',
  'fields',
  'urlTemplate',
  'signature',
  'entry',
  'otherwise',
  'amountSign',
  'key',
  'reversalOf',
  'test',
  'answers',
  'delivered',
  'timeBudgetMs',
  'retries',
  'addresses',
  'unconfirmed',
]

/**
 * Checks one profile, of the catalogue or inline.
 *
 * @param key what the messages call it, such as `networks.acme.profile`.
 * @throws PaidonceError `config_invalid`.
 */
export function validateProfile(json: unknown, key = 'profile'): NetworkProfile {
  const given = expectFields(json, key, KEYS)
  const fields = readFields(given['fields'], `${key}.fields`)
  checkDistinct(fields, `${key}.fields`)
  const amountSign =
    given['amountSign'] === undefined
      ? 'positive'
      : expectWord(supported(given['amountSign'], `${key}.amountSign`), `${key}.amountSign`, AMOUNT_SIGNS)
  const id = readProfileId(given['id'], `${key}.id`)
  return {
    id,
    name: given['name'] === undefined ? id : expectText(given['name'], `${key}.name`),
    sources: readSources(given['sources'], `${key}.sources`),
    methods: readMethods(given['methods'], `${key}.methods`, fields),
    fields,
    urlTemplate:
      given['urlTemplate'] === undefined || given['urlTemplate'] === null
        ? null
        : expectText(given['urlTemplate'], `${key}.urlTemplate`),
    signature: readSignature(given['signature'], `${key}.signature`, fields),
    entry: readEntryRules(given['entry'], `${key}.entry`, fields, amountSign),
    otherwise:
      given['otherwise'] === undefined
        ? 'ignored'
        : expectWord(given['otherwise'], `${key}.otherwise`, ['ignored', 'malformed']),
    amountSign,
    key: readKey(given['key'], `${key}.key`, fields),
    reversalOf: readReversalOf(given['reversalOf'], `${key}.reversalOf`, fields),
    test: readTestRule(given['test'], `${key}.test`, fields),
    answers: readAnswers(given['answers'], `${key}.answers`),
    delivered: readDelivered(given['delivered'], `${key}.delivered`),
    timeBudgetMs: readTimeBudget(given['timeBudgetMs'], `${key}.timeBudgetMs`),
    retries: readRetries(given['retries'], `${key}.retries`),
    addresses: readAddresses(given['addresses'], `${key}.addresses`),
    unconfirmed:
      given['unconfirmed'] === undefined ? false : expectFlag(given['unconfirmed'], `${key}.unconfirmed`),
  }
}

/** A setting that chooses by account is part of the language, but not of this version. */
function supported(value: unknown, key: string): unknown {
  if (!isFields(value)) return value
  throw configFault(key, value, 'one word; a choice by setting is not supported in this version')
}

function readProfileId(value: unknown, key: string): string {
  const id = expectText(value, key)
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(id)) {
    throw configFault(key, id, 'lower-case letters, digits and hyphens')
  }
  return id
}

function readMethods(
  value: unknown,
  key: string,
  fields: Readonly<Record<string, FieldSpec>>,
): NetworkProfile['methods'] {
  const methods = expectList(value, key).map((method, index) =>
    expectWord(method, `${key}[${index}]`, METHODS),
  )
  if (methods.length === 0) throw configFault(key, value, '"GET", "POST" or both')
  const needsBody = Object.values(fields).some((field) => 'json' in field || 'form' in field)
  if (needsBody && methods.includes('GET')) {
    throw configFault(key, methods.join(', '), '"POST" alone, because a field is read from the body')
  }
  return methods
}

function readSources(value: unknown, key: string): readonly ProfileSource[] {
  if (value === undefined) return []
  return expectList(value, key).map((source, index) => {
    const at = `${key}[${index}]`
    const given = expectFields(source, at, ['url', 'readOn', 'official'])
    return {
      url: expectText(given['url'], `${at}.url`),
      readOn: readDay(given['readOn'], `${at}.readOn`),
      official: expectFlag(given['official'], `${at}.official`),
    }
  })
}

function readDay(value: unknown, key: string): string | null {
  if (value === undefined || value === null) return null
  const text = expectText(value, key)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) throw configFault(key, text, 'a day such as "2026-10-22", or null')
  return text
}

function readDelivered(value: unknown, key: string): DeliveredRule {
  if (value === undefined) return { statuses: null, bodies: null }
  const given = expectFields(value, key, ['statuses', 'bodies'])
  return {
    statuses:
      given['statuses'] === undefined
        ? null
        : expectList(given['statuses'], `${key}.statuses`).map((status, index) => {
            if (typeof status !== 'number' || !Number.isInteger(status) || status < 100 || status > 599) {
              throw configFault(`${key}.statuses[${index}]`, status, 'a status from 100 to 599')
            }
            return status
          }),
    bodies:
      given['bodies'] === undefined
        ? null
        : expectList(given['bodies'], `${key}.bodies`).map((body, index) =>
            expectText(body, `${key}.bodies[${index}]`),
          ),
  }
}

/** Where a network's time limit is not known, the one that most networks keep to is taken. */
const DEFAULT_TIME_BUDGET_MS = 5000

function readTimeBudget(value: unknown, key: string): number {
  if (value === undefined || value === null) return DEFAULT_TIME_BUDGET_MS
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 100 || value > 600_000) {
    throw configFault(key, value, 'milliseconds from 100 to 600000')
  }
  return value
}

function readRetries(value: unknown, key: string): readonly string[] {
  if (value === undefined || value === null) return []
  return expectList(value, key).map((delay, index) => {
    const text = expectText(delay, `${key}[${index}]`)
    if (!/^[1-9]\d*(s|m|h|d)$/.test(text))
      throw configFault(`${key}[${index}]`, text, 'a delay such as "30s", "5m" or "2h"')
    return text
  })
}

function readAddresses(value: unknown, key: string): NetworkProfile['addresses'] {
  if (value === undefined || value === null) return { readOn: null, list: [] }
  const given = expectFields(value, key, ['readOn', 'list'])
  const scratch = new BlockList()
  return {
    readOn: readDay(given['readOn'], `${key}.readOn`),
    list: expectList(given['list'], `${key}.list`).map((entry, index) => {
      const text = expectText(entry, `${key}.list[${index}]`)
      if (!addAddress(scratch, text)) {
        throw configFault(`${key}.list[${index}]`, text, 'an IPv4 or IPv6 address or CIDR')
      }
      return text
    }),
  }
}
