/**
 * Checks how a profile's calls are signed.
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
  listed,
} from '../postback/config-fault.js'
import { templateParts } from '../postback/message.js'
import {
  DIGESTS,
  ENCODINGS,
  type DigestSpec,
  type MessageSpec,
  type QueryPart,
  type SignatureSpec,
  type SortedPairs,
} from '../postback/profile.js'
import { expectRole, type ProfileFields } from './validate-fields.js'

/** The signature, or null where the network signs nothing; leaving it out by mistake is refused. */
export function readSignature(value: unknown, key: string, fields: ProfileFields): SignatureSpec | null {
  if (value === null) {
    if (fields['signature'] === undefined) return null
    throw configFault(key, null, 'how the field "signature" is made, or no such field')
  }
  if (value === undefined)
    throw configFault(key, undefined, 'a signature, or null where the network signs nothing')
  if (fields['signature'] === undefined) {
    throw configFault(key, value, 'a field "signature" that says where the signature is found')
  }
  if (isFields(value) && 'token' in value) {
    const { token } = expectFields(value, key, ['token'])
    return { token: expectWord(token, `${key}.token`, ['secret']) }
  }
  if (isFields(value) && 'secrets' in value) {
    throw configFault(
      `${key}.secrets`,
      value['secrets'],
      'one secret; several are not supported in this version',
    )
  }
  const given = expectFields(value, key, ['message', 'digest', 'encoding', 'prefix'])
  const message = readMessage(given['message'], `${key}.message`, fields)
  const digest = readDigest(given['digest'], `${key}.digest`)
  checkNothingBeside(message, `${key}.message`, fields)
  const holdsSecret = 'template' in message && message.template.includes('{secret}')
  if ('hash' in digest && !holdsSecret) {
    throw configFault(
      `${key}.message`,
      given['message'],
      'a template with "{secret}", because anybody can make a hash without one',
    )
  }
  return {
    message,
    digest,
    encoding:
      given['encoding'] === undefined ? 'hex' : expectWord(given['encoding'], `${key}.encoding`, ENCODINGS),
    prefix: given['prefix'] === undefined ? '' : expectText(given['prefix'], `${key}.prefix`),
  }
}

/**
 * A message that is the query or the body alone must not meet fields that may stand in either: the other
 * one is not signed, so that anybody could add a field there.
 */
function checkNothingBeside(message: MessageSpec, key: string, fields: ProfileFields): void {
  if ('template' in message || 'sortedPairs' in message) return
  const role = Object.keys(fields).find((name) => 'parameter' in (fields[name] ?? {}))
  if (role === undefined) return
  const part = 'body' in message ? 'form' : 'query'
  throw configFault(
    key,
    message,
    `"${part}" instead of "parameter" in field "${role}", because only that is signed`,
  )
}

const MESSAGES = ['template', 'sortedPairs', 'query', 'url', 'body']

function readMessage(value: unknown, key: string, fields: ProfileFields): MessageSpec {
  if (!isFields(value)) throw configFault(key, value, `an object with one of ${listed(MESSAGES)}`)
  for (const later of ['sortedValues', 'pairs']) {
    if (later in value) {
      throw configFault(
        `${key}.${later}`,
        value[later],
        `one of ${listed(MESSAGES)}; "${later}" is not supported in this version`,
      )
    }
  }
  const given = expectFields(value, key, [...MESSAGES, 'values'])
  const [kind, ...others] = MESSAGES.filter((name) => given[name] !== undefined)
  if (kind === undefined || others.length > 0)
    throw configFault(key, value, `exactly one of ${listed(MESSAGES)}`)
  if (kind !== 'template' && given['values'] !== undefined) {
    throw configFault(`${key}.values`, given['values'], 'nothing here; it belongs to a template')
  }
  switch (kind) {
    case 'template':
      return readTemplate(given['template'], given['values'], key, fields)
    case 'sortedPairs':
      return { sortedPairs: readSortedPairs(given['sortedPairs'], `${key}.sortedPairs`, fields) }
    case 'query':
      return { query: readQuery(given['query'], `${key}.query`, fields) }
    case 'url': {
      const { without } = expectFields(given['url'], `${key}.url`, ['without'])
      return { url: { without: expectQueryRole(without, `${key}.url.without`, fields) } }
    }
    default:
      return { body: expectWord(given['body'], `${key}.body`, ['raw']) }
  }
}

function readTemplate(template: unknown, values: unknown, key: string, fields: ProfileFields): MessageSpec {
  const text = expectText(template, `${key}.template`)
  const parts = templateParts(text).filter(({ role }) => role !== null)
  if (!parts.some(({ role }) => role !== 'secret')) {
    throw configFault(`${key}.template`, text, 'at least one field in braces')
  }
  for (const { role } of parts) {
    if (role === null || role === 'secret') continue
    if (role.includes(':') || role.includes('..')) {
      throw configFault(
        `${key}.template`,
        `{${role}}`,
        'a role alone; parts and numbered lists are not supported in this version',
      )
    }
    expectRole(role, `${key}.template`, fields)
    if (role === 'signature')
      throw configFault(`${key}.template`, text, 'a template without the signature itself')
  }
  return {
    template: text,
    values: values === undefined ? 'received' : expectWord(values, `${key}.values`, ['received', 'raw']),
  }
}

function readSortedPairs(value: unknown, key: string, fields: ProfileFields): SortedPairs {
  const given = expectFields(value, key, ['without', 'pair', 'keyValue', 'values'])
  const { values } = given
  if (typeof values === 'string' && /^rfc\d+$/.test(values)) {
    throw configFault(
      `${key}.values`,
      values,
      '"decoded" or "raw"; encoding again is not supported in this version',
    )
  }
  const without =
    given['without'] === undefined ? ['signature'] : expectList(given['without'], `${key}.without`)
  return {
    without: without.map((role, index) => expectUnsigned(role, `${key}.without[${index}]`, fields)),
    pair: typeof given['pair'] === 'string' ? given['pair'] : '&',
    keyValue: typeof given['keyValue'] === 'string' ? given['keyValue'] : '=',
    values: values === undefined ? 'decoded' : expectWord(values, `${key}.values`, ['decoded', 'raw']),
  }
}

function readQuery(value: unknown, key: string, fields: ProfileFields): QueryPart {
  const given = expectFields(value, key, ['without', 'before', 'after'])
  if (given['without'] !== undefined && given['before'] === undefined && given['after'] === undefined) {
    return { without: expectQueryRole(given['without'], `${key}.without`, fields) }
  }
  if (given['before'] === undefined || given['without'] !== undefined) {
    throw configFault(key, value, 'either "without" or "before"')
  }
  const after = given['after'] === undefined ? [] : expectList(given['after'], `${key}.after`)
  return {
    before: expectQueryRole(given['before'], `${key}.before`, fields),
    after: after.map((role, index) => expectUnsigned(role, `${key}.after[${index}]`, fields)),
  }
}

const MUST_BE_SIGNED = ['transactionId', 'user', 'amount', 'status', 'eventId']

/** A role that stands outside of what is signed; whatever moves money must not. */
function expectUnsigned(value: unknown, key: string, fields: ProfileFields): string {
  const role = expectRole(value, key, fields)
  if (MUST_BE_SIGNED.includes(role))
    throw configFault(key, role, 'a role that moves no money, because it is not signed')
  return role
}

/** The signature's role; its field must be one of the query, or there is nothing to cut. */
function expectQueryRole(value: unknown, key: string, fields: ProfileFields): string {
  const role = expectWord(value, key, ['signature'])
  const field = fields[role]
  if (field === undefined || !('query' in field)) {
    throw configFault(key, role, 'a signature that is found in the query')
  }
  return role
}

function readDigest(value: unknown, key: string): DigestSpec {
  if (isFields(value)) {
    for (const later of ['ecdsa', 'rounds']) {
      if (later in value) {
        throw configFault(
          `${key}.${later}`,
          value[later],
          `"hmac" or "hash"; "${later}" is not supported in this version`,
        )
      }
    }
  }
  const given = expectFields(value, key, ['hmac', 'hash', 'key'])
  if ((given['hmac'] === undefined) === (given['hash'] === undefined)) {
    throw configFault(key, value, 'either "hmac" or "hash"')
  }
  if (given['hash'] !== undefined) {
    if (given['key'] !== undefined) throw configFault(`${key}.key`, given['key'], 'no key with "hash"')
    return { hash: expectWord(given['hash'], `${key}.hash`, DIGESTS) }
  }
  return {
    hmac: expectWord(given['hmac'], `${key}.hmac`, DIGESTS),
    key: given['key'] === undefined ? 'secret' : expectWord(given['key'], `${key}.key`, ['secret']),
  }
}
