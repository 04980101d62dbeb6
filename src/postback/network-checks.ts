/**
 * Checks the settings of one network, each with the key, the value and what was expected.
 *
 * @module
 */
import { createSecretKey, type KeyObject } from 'node:crypto'
import { BlockList } from 'node:net'
import { idFault, RESERVED_ID_SPACE } from '../ids.js'
import { parseDecimal } from '../money.js'
import { addAddress, type AddressList } from './addresses.js'
import { readAnswers } from './answer-config.js'
import { answersLose, type NetworkAnswers } from './answers.js'
import { configFault, expectFlag, expectList, expectText, type Fields } from './config-fault.js'
import { unitOf, type NetworkProfile } from './profile.js'

export function checkName(name: string, key: string): void {
  if (idFault(name) !== null || name.includes('/') || name.startsWith(RESERVED_ID_SPACE)) {
    throw configFault(
      key,
      name,
      `a name that is an id without "/" and does not begin with "${RESERVED_ID_SPACE}"`,
    )
  }
}

export function readIdSpace(value: unknown, key: string): string {
  const text = expectText(value, key)
  if (idFault(text) !== null || text.startsWith(RESERVED_ID_SPACE)) {
    throw configFault(key, text, `an id that does not begin with "${RESERVED_ID_SPACE}"`)
  }
  return text
}

export function readSecrets(given: Fields, key: string, profile: NetworkProfile): readonly KeyObject[] {
  const previous =
    given['previousSecrets'] === undefined
      ? []
      : expectList(given['previousSecrets'], `${key}.previousSecrets`)
  if (profile.signature === null) {
    if (given['secret'] === undefined && previous.length === 0) return []
    throw configFault(`${key}.secret`, '(hidden)', `no secret, because profile "${profile.id}" signs nothing`)
  }
  return [
    readSecret(given['secret'], `${key}.secret`),
    ...previous.map((secret, index) => readSecret(secret, `${key}.previousSecrets[${index}]`)),
  ]
}

/** The message never holds the secret, not even a wrong one. */
function readSecret(value: unknown, key: string): KeyObject {
  const expected = "the network's secret as text"
  if (typeof value !== 'string') throw configFault(key, value === undefined ? undefined : {}, expected)
  if (value === '') {
    throw configFault(
      key,
      '',
      expected,
      'An unset variable is a frequent cause; check where the value comes from.',
    )
  }
  if (value.trim() !== value) {
    throw configFault(
      key,
      '(hidden, with white space at its ends)',
      'a secret without it',
      'Remove the space or line break that was copied along.',
    )
  }
  return createSecretKey(Buffer.from(value))
}

export function readPublicUrl(value: unknown, key: string, profile: NetworkProfile): string | null {
  const signature = profile.signature
  const isSigned = signature !== null && 'message' in signature && 'url' in signature.message
  if (value === undefined) {
    if (!isSigned) return null
    throw configFault(
      `${key}.publicUrl`,
      undefined,
      'the address that the network calls, because it signs the whole URL',
      'Give it as pasted at the network, without the query.',
    )
  }
  const text = expectText(value, `${key}.publicUrl`)
  if (!URL.canParse(text) || !/^https?:\/\/[^?#\s]+$/i.test(text)) {
    throw configFault(`${key}.publicUrl`, text, 'an http or https address without query')
  }
  return text
}

export function readAllowedIps(value: unknown, key: string, profile: NetworkProfile): AddressList | null {
  const at = `${key}.allowedIps`
  if (value === undefined) {
    if (profile.signature !== null) return null
    throw configFault(
      at,
      undefined,
      `a list of addresses, because profile "${profile.id}" signs nothing`,
      'Ask the network for its current sender addresses.',
    )
  }
  const list = new BlockList()
  const entries = expectList(value, at).map((entry, index) => {
    const text = expectText(entry, `${at}[${index}]`)
    if (!addAddress(list, text)) {
      throw configFault(`${at}[${index}]`, text, 'an IPv4 or IPv6 address or CIDR such as "203.0.113.0/24"')
    }
    return text
  })
  if (entries.length === 0)
    throw configFault(at, [], 'at least one address; an empty list would refuse every call')
  return { entries, list }
}

export function readNetworkAnswers(given: Fields, key: string, profile: NetworkProfile): NetworkAnswers {
  const configured = readAnswers(given['answers'], `${key}.answers`)
  const answers: NetworkAnswers = { configured, profile: profile.answers }
  const accepts = given['acceptLoss'] !== undefined && expectFlag(given['acceptLoss'], `${key}.acceptLoss`)
  const [lost] = answersLose(answers, profile.delivered)
  if (lost !== undefined && !accepts) {
    const answer = configured[lost]
    throw configFault(
      `${key}.answers.${lost}`,
      answer === undefined ? undefined : `${answer.status} ${answer.body}`,
      `an answer that makes ${profile.name} send again, because "${lost}" means that nothing was booked`,
      'Set acceptLoss: true if these rewards may be lost.',
    )
  }
  return answers
}

export function readRate(value: unknown, key: string, profile: NetworkProfile): string | null {
  const unit = unitOf(profile)
  const at = `${key}.rate`
  if (value === undefined) {
    if (unit === 'coins') return null
    throw configFault(
      at,
      undefined,
      `coins per unit as text, because this network's amounts are in "${unit}"`,
    )
  }
  if (unit === 'coins')
    throw configFault(at, value, "nothing, because this network's amounts are coins already")
  const rate = typeof value === 'string' ? parseDecimal(value) : null
  if (rate === null || rate.digits === 0n)
    throw configFault(at, value, 'a decimal text above zero such as "0.5"')
  return value as string
}

export function readIdPattern(value: unknown, key: string): RegExp | null {
  if (value === undefined) return null
  const text = expectText(value, key)
  if (!text.startsWith('^') || !text.endsWith('$')) {
    throw configFault(
      key,
      text,
      'a pattern from "^" to "$"',
      'A pattern that may match a part of an id closes nothing.',
    )
  }
  try {
    return new RegExp(text, 'u')
  } catch {
    throw configFault(key, text, 'a regular expression')
  }
}

export function readPaths(value: unknown, key: string): readonly string[] {
  const paths = readTexts(value, key)
  for (const [index, path] of paths.entries()) {
    if (!/^\/[^?#\s]*$/.test(path)) {
      throw configFault(`${key}[${index}]`, path, 'an exact path such as "/postback.php", without query')
    }
  }
  return paths
}

export function readTexts(value: unknown, key: string): readonly string[] {
  if (value === undefined) return []
  return expectList(value, key).map((text, index) => expectText(text, `${key}[${index}]`))
}
