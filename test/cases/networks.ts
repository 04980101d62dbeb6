/**
 * The four neutral networks, and others of the scheme `raw` that differ from it in one point each.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import type { NetworkSettings } from '../../src/server/settings.js'
import type { Scheme } from './calls.js'

type Changes = Readonly<Record<string, unknown>>

interface PlainProfile extends Changes {
  readonly fields: Changes
}

function profileOf(scheme: Scheme): PlainProfile {
  const file = new URL(`../postback/profiles/${scheme}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as PlainProfile
}

function rawLike(changes: Changes, fields: Changes = {}): Pick<NetworkSettings, 'profile' | 'secret'> {
  const plain = profileOf('raw')
  // A template names every parameter; these networks are called by hand.
  const profile = { ...plain, ...changes, urlTemplate: null, fields: { ...plain.fields, ...fields } }
  return { profile, secret: 'rawkey' }
}

const inUnit = (unit: string, rate: string): NetworkSettings => ({
  ...rawLike({}, { amount: { query: 'amount', unit } }),
  rate,
})

export const NETWORKS: Readonly<Record<string, NetworkSettings>> = {
  raw: { profile: profileOf('raw'), secret: 'rawkey' },
  cat: {
    profile: profileOf('cat'),
    secret: 'catkey',
    answers: {
      credited: { status: 200, body: 'OK' },
      duplicate: { status: 200, body: 'DUP' },
      unverified: { status: 403, body: 'ERROR: signature' },
    },
  },
  sort: { profile: profileOf('sort'), secret: 'sortkey' },
  body: { profile: profileOf('body'), secret: 'bodykey' },
  /** Sends several events under one id. */
  events: rawLike({ key: '{transactionId}|{eventId}' }),
  /** Says how far a conversion has come. */
  states: rawLike(
    {
      entry: [
        { when: { status: ['PENDING', 'REVIEWING'] }, is: 'ignored' },
        { when: { status: 'COMPLETED' }, is: 'credit' },
        { when: { status: 'REJECTED' }, is: 'reversal' },
      ],
    },
    { status: { query: 'state' } },
  ),
  /** Sends negative amounts for what it takes back. */
  signs: rawLike(
    {
      amountSign: 'negative-on-reversal',
      entry: [
        { when: { status: 'approved' }, is: 'credit' },
        { when: { status: 'rejected' }, is: 'reversal' },
      ],
    },
    { amount: { query: 'reward' } },
  ),
  sandbox: rawLike(
    { test: { when: { test: 'sandbox' }, default: 'record' } },
    { test: { query: 'mode', optional: true } },
  ),
  usd: inUnit('usd', '100'),
  jpy: inUnit('jpy', '1'),
  kwd: inUnit('kwd', '1'),
  cents: inUnit('usd-cents', '1'),
  rounded: { ...rawLike({}), rounding: 'half-even' },
}
