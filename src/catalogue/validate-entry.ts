/**
 * Checks what a profile's calls mean: entry rules, key, reversals, tests.
 *
 * @module
 */
import {
  configFault,
  expectFields,
  expectList,
  expectText,
  expectWord,
  isFields,
} from '../postback/config-fault.js'
import {
  ENTRY_WORDS,
  TEST_MODES,
  type AmountSign,
  type Condition,
  type EntryRule,
  type ReversalOf,
  type TestRule,
  type When,
} from '../postback/profile.js'
import { expectRole, type ProfileFields } from './validate-fields.js'

/** The entry rules; at least one of them must be able to credit. */
export function readEntryRules(
  value: unknown,
  key: string,
  fields: ProfileFields,
  amountSign: AmountSign,
): readonly EntryRule[] {
  const rules = expectList(value, key).map((rule, index): EntryRule => {
    const at = `${key}[${index}]`
    const given = expectFields(rule, at, ['when', 'is'])
    const is = expectWord(given['is'], `${at}.is`, ENTRY_WORDS)
    if (is === 'by-sign' && amountSign !== 'signed') {
      throw configFault(`${at}.is`, is, 'another word, unless amountSign is "signed"')
    }
    return { when: readWhen(given['when'], `${at}.when`, fields), is }
  })
  if (!rules.some(({ is }) => is === 'credit' || is === 'by-sign')) {
    throw configFault(key, value, 'at least one rule that is "credit"')
  }
  return rules
}

/** `{a}|{b}` as a list of roles; the bar stands for a separator that no id can contain. */
export function readKey(value: unknown, key: string, fields: ProfileFields): readonly string[] {
  if (value === undefined) return ['transactionId']
  const parts = expectText(value, key).split('|')
  if (parts.length > 3) throw configFault(key, value, 'at most three roles')
  return parts.map((part) => expectRole(inBraces(part, key), key, fields))
}

/** How a reversal names its credit. */
export function readReversalOf(value: unknown, key: string, fields: ProfileFields): ReversalOf {
  if (value === undefined) return { kind: 'same' }
  if (typeof value === 'string') {
    const role = expectRole(inBraces(value, key), key, fields)
    return role === 'transactionId' ? { kind: 'same' } : { kind: 'field', field: role }
  }
  const { stripPrefix } = expectFields(value, key, ['stripPrefix'])
  return { kind: 'stripPrefix', prefix: expectText(stripPrefix, `${key}.stripPrefix`) }
}

/** The test rule, or null. */
export function readTestRule(value: unknown, key: string, fields: ProfileFields): TestRule | null {
  if (value === undefined || value === null) return null
  const given = expectFields(value, key, ['when', 'default'])
  const when = readWhen(given['when'], `${key}.when`, fields)
  if (Object.keys(when).length === 0)
    throw configFault(`${key}.when`, given['when'], 'at least one condition')
  return {
    when,
    default:
      given['default'] === undefined ? 'record' : expectWord(given['default'], `${key}.default`, TEST_MODES),
  }
}

function inBraces(text: string, key: string): string {
  const role = /^\{([^{}]+)\}$/.exec(text)?.[1]
  if (role === undefined) throw configFault(key, text, 'a role in braces such as "{transactionId}"')
  return role
}

function readWhen(value: unknown, key: string, fields: ProfileFields): When {
  if (!isFields(value)) throw configFault(key, value, 'an object of conditions by role')
  if ('route' in value) {
    throw configFault(
      `${key}.route`,
      value['route'],
      'roles of the fields; a route of its own is not supported in this version',
    )
  }
  const when: Record<string, Condition> = {}
  for (const [role, condition] of Object.entries(value)) {
    when[expectRole(role, key, fields)] = readCondition(condition, `${key}.${role}`)
  }
  return when
}

function readCondition(value: unknown, key: string): Condition {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) {
    if (value.length === 0) throw configFault(key, value, 'at least one word')
    return value.map((word: unknown, index) => expectText(word, `${key}[${index}]`))
  }
  const given = expectFields(value, key, ['equals', 'startsWith'])
  if ((given['equals'] === undefined) === (given['startsWith'] === undefined)) {
    throw configFault(key, value, 'a text, a list of texts, or either "equals" or "startsWith"')
  }
  return given['equals'] !== undefined
    ? { equals: expectText(given['equals'], `${key}.equals`) }
    : { startsWith: expectText(given['startsWith'], `${key}.startsWith`) }
}
