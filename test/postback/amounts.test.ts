import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAmount } from '../../src/postback/amount.js'
import type { NetworkConfig } from '../../src/postback/network.js'
import { body, neutral, neutralProfile, raw, read, verdict } from './calls.js'

const credit = (amount: string, status = '1') => raw(`user_id=u1&tx=T1&amount=${amount}&status=${status}`)

/** `raw` with amounts in another unit. */
function payoutNetwork(unit: string, config: Partial<NetworkConfig>) {
  const fields = { ...(neutralProfile('raw')['fields'] as object), amount: { query: 'amount', unit } }
  return neutral('raw', config, { fields })
}

test.each([
  ['-200', '2', 'signed', 'reversal T1 u1 200000'],
  ['200', '2', 'positive', 'reversal T1 u1 200000'],
  ['-200', '2', 'positive', 'verified malformed amount_negative'],
  ['200', '2', 'signed', 'verified held amount_sign'],
  ['-200', '1', 'positive', 'verified malformed amount_negative'],
  ['-200', '1', 'signed', 'verified held amount_sign'],
  ['-200', '1', 'negative-on-reversal', 'verified held amount_sign'],
  ['-200', '2', 'negative-on-reversal', 'reversal T1 u1 200000'],
])('C52: amount %s with status %s under "%s"', (amount, status, amountSign, expected) => {
  expect(verdict(read(credit(amount, status), neutral('raw', {}, { amountSign })))).toBe(expected)
})

test('C52: a network without a status may tell reversals by the sign alone', () => {
  const network = neutral('raw', {}, { amountSign: 'signed', entry: [{ when: {}, is: 'by-sign' }] })
  expect(read(credit('-200'), network).claim).toMatchObject({
    entry: 'reversal',
    amount: 200_000n,
    receivedAmount: '200',
  })
  expect(read(credit('200'), network).claim).toMatchObject({ entry: 'credit', amount: 200_000n })
})

test.each([
  ['0.29', 'usd', '100', 0, 'reject', 29n],
  ['17.85', 'usd', '100', 0, 'reject', 1785n],
  ['0.20', 'coins', undefined, 2, 'reject', 20n],
  ['1.005', 'coins', undefined, 2, 'half-even', 100n],
  ['1.015', 'coins', undefined, 2, 'half-even', 102n],
  ['1.005', 'coins', undefined, 2, 'down', 100n],
  ['1.0051', 'coins', undefined, 2, 'half-even', 101n],
  ['0.1', 'usd', '0.333', 3, 'half-even', 33n],
] as const)('C54: %s %s at %s, scale %s, %s', (amount, unit, rate, scale, rounding, minor) => {
  const network = payoutNetwork(unit, { rounding, ...(rate === undefined ? {} : { rate }) })
  expect(read(credit(amount), network, scale).claim?.amount).toBe(minor)
})

test('C54: surplus decimals are refused unless a rounding was chosen', () => {
  expect(verdict(read(credit('1.005'), neutral('raw'), 2))).toBe('verified malformed too_many_decimals')
  expect(verdict(read(credit('1.500'), neutral('raw'), 1))).toBe('credit T1 u1 15')
})

test.each([
  ['jpy', '1', '80', 80_000n],
  ['kwd', '1', '1.234', 1234n],
  ['usd-cents', '1', '123', 1230n],
  ['minor', '1', '123', 1230n],
  ['usd-cents', '100', '123', 123_000n],
])('C56: unit %s at rate %s: %s', (unit, rate, amount, minor) => {
  expect(read(credit(amount), payoutNetwork(unit, { rate })).claim).toMatchObject({
    amount: minor,
    receivedAmount: amount,
    unit,
    rate,
  })
})

test.each(
  [
    '1e-12',
    '1e3',
    'NaN',
    'Infinity',
    '0x10',
    '%EF%BC%91%EF%BC%90%EF%BC%90',
    '+10+',
    '%2010',
    '10.',
    '.5',
  ].concat(['%2B10', '+10', '1_000', '1,000', '1,5', '', '00', '007', '--5', '-', '10%00', '10%0A', '%FF']),
)('C58: "%s" is no amount', (amount) => {
  expect(verdict(read(credit(amount), neutral('raw')))).toBe('verified malformed amount_not_an_amount')
})

test('C58: too large amounts are refused as such', () => {
  expect(verdict(read(credit('99999999999999999999'), neutral('raw')))).toBe(
    'verified malformed amount_too_large',
  )
  expect(verdict(read(credit('1000000000001'), neutral('raw')))).toBe('verified malformed amount_too_large')
  expect(verdict(read(credit('1000000000000'), neutral('raw')))).toBe('credit T1 u1 1000000000000000')
  expect(verdict(read(credit('-5'), neutral('raw')))).toBe('verified malformed amount_negative')
})

test('C60: zero is recorded without money, as received or after rounding', () => {
  for (const zero of ['0', '0.000', '-0']) {
    expect(verdict(read(credit(zero), neutral('raw')))).toBe('verified ignored zero_amount')
  }
  expect(verdict(read(credit('0.0004'), neutral('raw', { rounding: 'down' })))).toBe(
    'verified ignored zero_amount',
  )
})

test('JSON numbers keep their digits', () => {
  const amountOf = (text: string) =>
    read(body(`{"user_id":"u1","tx":"T1","amount":${text}}`), neutral('body')).claim?.receivedAmount
  expect(amountOf('1.0')).toBe('1')
  expect(amountOf('"12.50"')).toBe('12.5')
  expect(read(body('{"user_id":"u1","tx":"T1","amount":1e3}'), neutral('body')).outcome?.reason).toBe(
    'amount_not_an_amount',
  )
})

test('a reversal may come without amount and user where the profile says so, a credit may not', () => {
  const fields = {
    ...(neutralProfile('raw')['fields'] as object),
    amount: { query: 'amount', optional: true },
    user: { query: 'user_id', optional: true },
  }
  const network = neutral('raw', {}, { fields })
  expect(read(raw('tx=T1&status=2'), network).claim).toMatchObject({
    user: '',
    amount: null,
    receivedAmount: null,
  })
  expect(read(raw('tx=T1&status=2&user_id=&amount='), network).claim).toMatchObject({
    user: '',
    amount: null,
  })
  expect(verdict(read(raw('tx=T1&status=1&user_id=u1'), network))).toBe(
    'verified malformed missing_parameter: amount',
  )
  expect(verdict(read(raw('tx=T1&status=1&user_id=u1&amount='), network))).toBe(
    'verified malformed missing_parameter: amount',
  )
  expect(verdict(read(raw('tx=T1&status=1&amount=5'), network))).toBe(
    'verified malformed missing_parameter: user_id',
  )
})

test('property: an amount is read exactly or not at all', () => {
  const rule = { unit: 'coins', rate: null, rounding: 'reject' } as const
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 15n), fc.integer({ min: 0, max: 6 }), (minor, scale) => {
      const digits = minor.toString().padStart(scale + 1, '0')
      const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
      expect(readAmount(text, rule, scale)).toMatchObject({ minor, negative: false })
    }),
  )
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...Array.from('0123456789.-+eE ,_x\u0000')) }), (text) => {
      const read = readAmount(text, rule, 3)
      if (typeof read === 'string') return
      expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d+)?$/)
    }),
  )
})
