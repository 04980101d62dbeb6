import { expect, test } from 'vitest'
import { validateProfile } from '../../src/catalogue/index.js'
import { neutralProfile, type NeutralName } from '../postback/calls.js'

const raw = neutralProfile('raw')
const fields = raw['fields'] as Record<string, unknown>
const signature = raw['signature'] as Record<string, unknown>
const hmac = { hmac: 'sha256', key: 'secret' }

test.each<NeutralName>(['raw', 'cat', 'sort', 'body'])('the neutral profile "%s" is accepted', (name) => {
  expect(validateProfile(neutralProfile(name))).toMatchObject({
    id: name,
    key: ['transactionId'],
    reversalOf: { kind: 'same' },
    amountSign: 'positive',
    otherwise: 'ignored',
  })
})

test.each<[Record<string, unknown>, string]>([
  [{ id: 'Raw!' }, 'profile.id is "Raw!"; expected lower-case letters'],
  [{ methods: ['PUT'] }, 'profile.methods[0] is "PUT"; expected "GET" or "POST".'],
  [{ methods: [] }, 'profile.methods is a list; expected "GET", "POST" or both.'],
  [{ colour: 'red' }, 'profile has an unknown key "colour"'],
  [{ fields: { ...fields, user: undefined } }, 'profile.fields.user is missing'],
  [
    { fields: { ...fields, user: { query: 'tx' } } },
    'profile.fields.user is "tx"; expected another name than that of "transactionId".',
  ],
  [
    { fields: { ...fields, user: { query: 'a', header: 'b' } } },
    'profile.fields.user is an object; expected exactly one of "query", "form", "parameter", "json" or "header".',
  ],
  [
    { fields: { ...fields, user: { query: 'a', default: 'u1' } } },
    'profile.fields.user.default is "u1"; expected no default for "user".',
  ],
  [
    { fields: { ...fields, amount: { query: 'amount', unit: 'Dollars' } } },
    'profile.fields.amount.unit is "Dollars"',
  ],
  [{ fields: { ...fields, user: { json: 'user' } } }, 'profile.methods is "GET"; expected "POST" alone'],
  [{ signature: null }, 'profile.signature is null; expected how the field "signature" is made'],
  [
    { fields: { ...fields, eventId: { parameter: 'event' } } },
    'expected "query" instead of "parameter" in field "eventId"',
  ],
  [{ signature: undefined }, 'profile.signature is missing; expected a signature, or null'],
  [
    { signature: { ...signature, encoding: 'base32' } },
    'profile.signature.encoding is "base32"; expected "hex", "base64" or "base64url".',
  ],
  [
    { signature: { message: { template: '{user}' }, digest: { hash: 'md5' } } },
    'profile.signature.message is an object; expected a template with "{secret}"',
  ],
  [
    { signature: { message: { template: '{usr}{secret}' }, digest: { hash: 'md5' } } },
    'profile.signature.message.template is "usr"; expected a role of the fields',
  ],
  [
    { signature: { message: { template: '{secret}' }, digest: { hash: 'md5' } } },
    'expected at least one field in braces',
  ],
  [
    { signature: { message: { query: { before: 'sig' } }, digest: hmac } },
    'profile.signature.message.query.before is "sig"; expected "signature".',
  ],
  [
    { entry: [{ when: { status: '2' }, is: 'reversal' }] },
    'profile.entry is a list; expected at least one rule that is "credit".',
  ],
  [
    { entry: [{ when: { stat: '1' }, is: 'credit' }] },
    'profile.entry[0].when is "stat"; expected a role of the fields',
  ],
  [
    { entry: [{ when: { status: '1' }, is: 'pay' }] },
    'profile.entry[0].is is "pay"; expected "credit", "reversal", "by-sign", "ignored" or "held".',
  ],
  [
    { entry: [{ when: {}, is: 'by-sign' }] },
    'profile.entry[0].is is "by-sign"; expected another word, unless amountSign is "signed".',
  ],
  [{ key: 'transactionId' }, 'profile.key is "transactionId"; expected a role in braces'],
  [{ reversalOf: '{ref}' }, 'profile.reversalOf is "ref"; expected a role of the fields'],
  [{ test: { when: {} } }, 'profile.test.when is an object; expected at least one condition.'],
  [{ retries: ['soon'] }, 'profile.retries[0] is "soon"; expected a delay'],
  [
    { addresses: { list: ['1.2.3'] } },
    'profile.addresses.list[0] is "1.2.3"; expected an IPv4 or IPv6 address',
  ],
  [{ timeBudgetMs: 0.5 }, 'profile.timeBudgetMs is 0.5; expected milliseconds from 100 to 600000.'],
])('%o is refused by path and value', (change, message) => {
  expect(() => validateProfile({ ...raw, ...change })).toThrow(message)
})

test.each<[string, Record<string, unknown>]>([
  ['fields.user.path', { fields: { ...fields, user: { path: 2 } } }],
  ['fields.amount.fixed', { fields: { ...fields, amount: { fixed: 'setting' } } }],
  ['signature.message.sortedValues', { signature: { message: { sortedValues: {} }, digest: hmac } }],
  [
    'signature.message.template',
    { signature: { message: { template: '{amount:int}{secret}' }, digest: { hash: 'md5' } } },
  ],
  [
    'signature.message.template',
    { signature: { message: { template: '{pub0..pub9}{secret}' }, digest: { hash: 'md5' } } },
  ],
  [
    'signature.message.sortedPairs.values',
    { signature: { message: { sortedPairs: { values: 'rfc1738' } }, digest: hmac } },
  ],
  ['signature.digest.rounds', { signature: { ...signature, digest: { hash: 'sha256', rounds: 2 } } }],
  ['signature.digest.ecdsa', { signature: { ...signature, digest: { ecdsa: 'sha256' } } }],
  ['signature.secrets', { signature: { ...signature, secrets: ['secret', 'appHash'] } }],
  ['amountSign', { amountSign: { setting: ['signed', 'positive'] } }],
  ['entry[0].when.route', { entry: [{ when: { route: 'reversal' }, is: 'credit' }] }],
])('%s: what this version does not read is refused by name', (path, change) => {
  expect(() => validateProfile({ ...raw, ...change })).toThrow('not supported in this version')
  expect(() => validateProfile({ ...raw, ...change })).toThrow(`profile.${path} is `)
})
