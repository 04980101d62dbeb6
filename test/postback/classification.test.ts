import { expect, test } from 'vitest'
import { lookUpProfile } from '../../src/catalogue/catalogue.js'
import { resolveNetwork } from '../../src/postback/network.js'
import { signPostback } from '../../src/postback/sign.js'
import { get, neutral, neutralProfile, raw, read, verdict } from './calls.js'

const STATES = [
  { when: { status: 'PENDING' }, is: 'ignored' },
  { when: { status: 'REVIEWING' }, is: 'ignored' },
  { when: { status: 'COMPLETED' }, is: 'credit' },
  { when: { status: ['REJECTED', 'CHARGEBACK'] }, is: 'reversal' },
  { when: { status: 'ADJUSTED' }, is: 'held' },
]

test.each([
  ['PENDING', 'verified ignored status_ignored: PENDING'],
  ['REVIEWING', 'verified ignored status_ignored: REVIEWING'],
  ['COMPLETED', 'credit K1 u1 25000'],
  ['REJECTED', 'reversal K1 u1 25000'],
  ['CHARGEBACK', 'reversal K1 u1 25000'],
  ['ADJUSTED', 'verified held status_held: ADJUSTED'],
  ['completed', 'verified ignored status_unknown: completed'],
  ['', 'verified ignored status_unknown: '],
])('C88: state %s', (status, expected) => {
  const call = raw(`user_id=u1&tx=K1&amount=25&status=${status}`)
  expect(verdict(read(call, neutral('raw', {}, { entry: STATES })))).toBe(expected)
})

test('C88: a profile may refuse states that it does not know', () => {
  const network = neutral('raw', {}, { entry: STATES, otherwise: 'malformed' })
  expect(verdict(read(raw('user_id=u1&tx=K1&amount=25&status=NEW'), network))).toBe(
    'verified malformed status_unknown: NEW',
  )
})

test('an absent status counts as its default where the profile has one, else it is missing', () => {
  expect(verdict(read(raw('user_id=u1&tx=K1&amount=25'), neutral('raw')))).toBe(
    'verified malformed missing_parameter: status',
  )
  const fields = { ...(neutralProfile('raw')['fields'] as object), status: { query: 'status', default: '1' } }
  const network = neutral('raw', {}, { fields })
  expect(verdict(read(raw('user_id=u1&tx=K1&amount=25'), network))).toBe('credit K1 u1 25000')
  expect(verdict(read(raw('user_id=u1&tx=K1&amount=25&status='), network))).toBe(
    'verified ignored status_unknown: ',
  )
})

test('C92: a test call is marked, and recorded only where the network’s tests are', () => {
  const call = raw('user_id=test&tx=K2&amount=500&status=1&test=1')
  expect(read(call, neutral('raw')).claim).toMatchObject({ test: true, recordOnly: true })
  expect(read(call, neutral('raw', { tests: 'credit' })).claim).toMatchObject({
    test: true,
    recordOnly: false,
  })
  for (const value of ['0', '', 'false', 'no']) {
    const live = raw(`user_id=u1&tx=K2&amount=500&status=1&test=${value}`)
    expect(read(live, neutral('raw')).claim).toMatchObject({ test: false, recordOnly: false })
  }
})

test('C92: a Sharklio test has an id that begins with test_ and is credited by default', () => {
  const read1 = (tests?: 'record') => {
    const config = { profile: 'sharklio', secret: 'k', ...(tests === undefined ? {} : { tests }) }
    const network = resolveNetwork('sharklio', config, lookUpProfile)
    const call = signPostback(
      network.profile,
      'k',
      { user: 'u1', amount: '5', transactionId: 'test_1', entry: 'credit' },
      '/postback/sharklio',
    )
    return read(get(call.url), network).claim
  }
  expect(read1()).toMatchObject({ test: true, recordOnly: false })
  expect(read1('record')).toMatchObject({ test: true, recordOnly: true })
})

test('C94: a test with a bad signature is shown with its verdict and what it said', () => {
  const call = get('/postback/raw?user_id=u1&tx=K3&amount=500&status=1&test=1&sig=00')
  expect(read(call, neutral('raw'))).toMatchObject({
    verified: false,
    outcome: { outcome: 'bad_signature', reason: 'signature_not_readable' },
    transactionId: 'K3',
    transactionKey: null,
    entry: 'credit',
    user: 'u1',
    amount: 500_000n,
    test: true,
  })
})

test('a held or ignored call keeps the key of the transaction that it is about', () => {
  const reading = read(raw('user_id=u1&tx=K4&amount=-5&status=1'), neutral('raw'))
  expect(reading).toMatchObject({ transactionId: 'K4', transactionKey: 'K4', entry: 'credit', user: 'u1' })
})

test('only headers that a later check needs are kept', () => {
  const headers = { authorization: 'x', cookie: 'y', 'user-agent': 'net', 'x-signature': 'sha256=00' }
  const call = { method: 'POST', url: '/p', headers, body: Buffer.from('{}'), remoteAddress: '203.0.113.7' }
  expect(read(call, neutral('body')).headers).toEqual({ 'user-agent': 'net', 'x-signature': 'sha256=00' })
})
