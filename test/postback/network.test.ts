import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { PaidonceError } from '../../src/errors.js'
import { lookUpProfile } from '../../src/catalogue/catalogue.js'
import { resolveNetwork } from '../../src/postback/network.js'
import { pasteUrl } from '../../src/postback/params.js'
import { get, neutral, neutralProfile, raw, read, signRaw, verdict } from './calls.js'

/** The refusal of a configuration of `sharklio`. */
function refusal(config: Record<string, unknown>, name = 'acme'): PaidonceError {
  try {
    resolveNetwork(name, { profile: 'sharklio', secret: 's', ...config }, lookUpProfile)
  } catch (error) {
    if (error instanceof PaidonceError) return error
    throw error
  }
  throw new Error('The configuration was accepted.')
}

test.each<[Record<string, unknown>, string]>([
  [{ secret: '' }, 'networks.acme.secret is ""; expected the network\'s secret as text.'],
  [{ secret: undefined }, "networks.acme.secret is missing; expected the network's secret as text."],
  [
    { secret: 'abc\n' },
    'networks.acme.secret is "(hidden, with white space at its ends)"; expected a secret without it.',
  ],
  [
    { previousSecrets: [' abc'] },
    'networks.acme.previousSecrets[0] is "(hidden, with white space at its ends)"; expected a secret without it.',
  ],
  [{ params: { usr: 'u' } }, 'networks.acme.params has an unknown key "usr"'],
  [
    { params: { user: 'tx' } },
    'networks.acme.params.user is "tx"; expected another name than that of "transactionId".',
  ],
  [{ rate: '2' }, 'networks.acme.rate is "2"; expected nothing'],
  [{ rounding: 'up' }, 'networks.acme.rounding is "up"; expected "reject", "down" or "half-even".'],
  [{ tests: 'ignore' }, 'networks.acme.tests is "ignore"; expected "credit" or "record".'],
  [{ paths: ['postback.php'] }, 'networks.acme.paths[0] is "postback.php"; expected an exact path'],
  [{ idPattern: '[A-Z]+' }, 'networks.acme.idPattern is "[A-Z]+"; expected a pattern from "^" to "$".'],
  [
    { publicUrl: 'coins.example' },
    'networks.acme.publicUrl is "coins.example"; expected an http or https address',
  ],
  [{ idSpace: 'paidonce:x' }, 'networks.acme.idSpace is "paidonce:x"'],
  [{ allowedIps: [] }, 'networks.acme.allowedIps is a list; expected at least one address'],
  [{ answers: { booked: { status: 301, body: 'x' } } }, 'networks.acme.answers.booked.status is 301'],
  [
    { answers: { booked: { status: 200, body: '{tx}' } } },
    'expected only the placeholders "eventId", "transactionId" or "user"',
  ],
  [{ answers: { boked: { status: 200, body: 'x' } } }, 'networks.acme.answers has an unknown key "boked"'],
])('%o is refused with its key and value', (config, message) => {
  const error = refusal(config)
  expect(error.code).toBe('config_invalid')
  expect(error.message).toContain(message)
})

test('near names are suggested', () => {
  expect(refusal({ secrets: ['x'] }).hint).toBe('Did you mean "secret"?')
  expect(refusal({ params: { usr: 'u' } }).hint).toBe('Did you mean "user"?')
  expect(refusal({ profile: 'sharkly' })).toMatchObject({
    message:
      'networks.acme.profile is "sharkly"; expected the name of a profile in the catalogue, or a profile.',
    hint: 'Did you mean "sharklio"?',
  })
  expect(refusal({ profile: 'zzz' }).hint).toContain('sharklio')
  expect(refusal({ rounding: 'dwon' }).hint).toBe('Did you mean "down"?')
})

test('a network’s name is an id that fits into a path', () => {
  expect(refusal({}, 'a/b').message).toContain('networks.a/b is "a/b"')
  expect(refusal({}, 'paidonce:').message).toContain('does not begin with "paidonce:"')
})

test('neither messages nor a logged network show a secret', () => {
  const network = neutral('raw', { secret: 'topsecret', previousSecrets: ['oldsecret'] })
  expect(inspect(network, { depth: 9 }) + JSON.stringify(network)).not.toMatch(/topsecret|oldsecret/)
  expect(refusal({ secret: 'topsecret ' }).message).not.toContain('topsecret')
})

test('amounts that are no coins need a rate, and a network that signs nothing needs addresses', () => {
  const fields = { ...(neutralProfile('raw')['fields'] as object), amount: { query: 'amount', unit: 'usd' } }
  expect(() => neutral('raw', {}, { fields })).toThrow(
    'networks.raw.rate is missing; expected coins per unit',
  )
  expect(() => neutral('raw', { rate: '0' }, { fields })).toThrow('networks.raw.rate is "0"')
  const { signature: _, ...unsignedFields } = neutralProfile('raw')['fields'] as Record<string, unknown>
  const unsigned = { ...neutralProfile('raw'), fields: unsignedFields, signature: null }
  expect(() => resolveNetwork('raw', { profile: unsigned }, lookUpProfile)).toThrow(
    'networks.raw.allowedIps is missing',
  )
  const network = resolveNetwork('raw', { profile: unsigned, allowedIps: ['203.0.113.7'] }, lookUpProfile)
  const call = get('/p?user_id=u1&tx=T1&amount=10&status=1')
  expect(verdict(read(call, network))).toBe('credit T1 u1 10000')
  expect(verdict(read({ ...call, remoteAddress: '198.51.100.9' }, network))).toBe(
    'unverified ip_not_allowed ip_not_allowed: 198.51.100.9',
  )
})

test('renamed parameters are read, signed and shown under their new names', () => {
  const network = neutral('raw', { params: { user: 'uid', signature: 's' } })
  const query = 'uid=u1&tx=T1&amount=10&status=1'
  expect(verdict(read(get(`/p?${query}&s=${signRaw(query)}`), network))).toBe('credit T1 u1 10000')
  expect(pasteUrl(network.profile, 'https://coins.example/postback/raw')).toBe(
    'https://coins.example/postback/raw?uid={user_id}&tx={tx}&amount={amount}&status={status}&offer={offer}&s={sig}',
  )
})

const ALLOWED = ['203.0.113.7', '198.51.100.0/24', '2001:db8::/32', '::ffff:192.0.2.1']

test.each([
  ['203.0.113.7', true],
  ['::ffff:203.0.113.7', true],
  ['::ffff:cb00:7107', true],
  ['::FFFF:203.0.113.7', true],
  ['203.0.113.8', false],
  ['198.51.100.250', true],
  ['::ffff:198.51.100.1', true],
  ['2001:db8:1::9', true],
  ['2001:db9::1', false],
  ['192.0.2.1', true],
  ['::ffff:192.0.2.1', true],
  ['203.0.113.7:4711', false],
  ['', false],
  ['unknown', false],
])('C77, C79: sender %s', (remoteAddress, allowed) => {
  const network = neutral('raw', { allowedIps: ALLOWED })
  const reading = read({ ...raw('user_id=u1&tx=T1&amount=10&status=1'), remoteAddress }, network)
  expect(reading.claim !== null).toBe(allowed)
  expect(reading.outcome?.outcome).toBe(allowed ? undefined : 'ip_not_allowed')
  expect(reading.verified).toBe(allowed)
})

test('C77: an allowed sender still needs a signature, and headers allow nobody', () => {
  const network = neutral('raw', { allowedIps: ['203.0.113.7'] })
  expect(read(get('/p?user_id=u1&tx=T1&amount=10&status=1&sig=00'), network).outcome?.outcome).toBe(
    'bad_signature',
  )
  const forged = {
    ...raw('user_id=u1&tx=T1&amount=10&status=1'),
    remoteAddress: '198.51.100.9',
    headers: { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7', 'x-real-ip': '203.0.113.7' },
  }
  expect(read(forged, network).outcome?.outcome).toBe('ip_not_allowed')
})

test.each([
  ['203.0.113.007'],
  ['203.0.113.7 '],
  [' 203.0.113.7'],
  ['203.0.113'],
  ['203.0.113.7/33'],
  ['203.0.113.7/'],
  ['203.0.113.0/024'],
  ['2001:db8::/129'],
  ['::ffff:203.0.113.7/64'],
  ['1.2.3.4/8/8'],
  ['example.com'],
  ['fe80::1%eth0'],
])('C79: the entry "%s" is refused at start', (entry) => {
  expect(refusal({ allowedIps: [entry] }).message).toBe(
    `networks.acme.allowedIps[0] is ${JSON.stringify(entry)}; expected an IPv4 or IPv6 address or CIDR such as "203.0.113.0/24".`,
  )
})
