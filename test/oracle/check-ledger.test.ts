import { describe, expect, it } from 'vitest'
import { checkLedger, type RawEntry, type Sent } from './check-ledger.js'

const entry = (part: Partial<RawEntry>): RawEntry => ({
  order: 1n,
  idSpace: 'n',
  key: 't',
  entry: 'credit',
  user: 'u',
  amount: 5n,
  balanceAfter: 5n,
  decision: 'booked',
  postbackId: 'p',
  ...part,
})
const call = (part: Partial<Sent>): Sent => ({
  postbackId: 'p',
  idSpace: 'n',
  key: 't',
  entry: 'credit',
  user: 'u',
  amount: 5n,
  outcome: 'credited',
  ...part,
})
const reversalCall = call({ postbackId: 'q', entry: 'reversal', outcome: 'reversed' })

describe('the checker itself', () => {
  it('finds nothing in a right ledger', () => {
    const entries = [
      entry({}),
      entry({ order: 2n, entry: 'reversal', amount: -5n, balanceAfter: 0n, postbackId: 'q' }),
    ]
    expect(checkLedger({ entries, wallets: new Map([['u', 0n]]) }, [call({}), reversalCall])).toEqual([])
  })

  it.each<[string, RawEntry[], bigint, Sent[], RegExp]>([
    ['a double credit', [entry({}), entry({ order: 2n, balanceAfter: 10n })], 10n, [call({})], /I1/],
    [
      'a lost update',
      [entry({}), entry({ order: 2n, key: 't2', balanceAfter: 5n, postbackId: 'q' })],
      5n,
      [call({}), call({ postbackId: 'q', key: 't2' })],
      /I2/,
    ],
    ['a credit without its balance', [entry({})], 0n, [call({})], /holds 0/],
    [
      'a reversal of 0 for a paid credit',
      [entry({}), entry({ order: 2n, entry: 'reversal', amount: 0n, postbackId: 'q' })],
      5n,
      [call({}), reversalCall],
      /I5/,
    ],
    [
      'a reversal alone',
      [entry({ entry: 'reversal', amount: 0n, balanceAfter: 0n, postbackId: 'q' })],
      0n,
      [reversalCall],
      /without a credit/,
    ],
    ['an entry that nobody sent', [entry({ postbackId: 'x' })], 5n, [], /I4/],
    ['a lost credit', [], 0n, [call({})], /I3/],
    ['a first delivery called a copy', [entry({})], 5n, [call({ outcome: 'duplicate' })], /I3/],
    [
      'a conflict without cause',
      [entry({})],
      5n,
      [call({}), call({ postbackId: 'q', outcome: 'conflict' })],
      /nothing contradicts/,
    ],
  ])('finds %s', (_name, entries, balance, sent, message) => {
    expect(checkLedger({ entries, wallets: new Map([['u', balance]]) }, sent).join('\n')).toMatch(message)
  })
})
