import { expect, test } from 'vitest'
import { findProfile } from '../../src/catalogue/catalogue.js'
import { signPostback, type CallToSign, type SignedCall } from '../../src/postback/sign.js'
import type { RawRequest } from '../../src/postback/raw-request.js'
import { neutral, read, verdict, type NeutralName } from './calls.js'

const CALL: CallToSign = { user: 'u 1+é', amount: '12.5', transactionId: 'T/1&x=ü', entry: 'credit' }

function requestOf({ method, url, headers, body }: SignedCall): RawRequest {
  const target = url.replace(/^https?:\/\/[^/]+/, '')
  return { method, url: target, headers, body: Buffer.from(body), remoteAddress: '203.0.113.7' }
}

test.each<NeutralName>(['raw', 'cat', 'sort', 'body'])('a call signed for "%s" is read back', (name) => {
  const network = neutral(name)
  for (const entry of ['credit', 'reversal'] as const) {
    const call = signPostback(
      network.profile,
      `${name}key`,
      { ...CALL, entry },
      `http://127.0.0.1:8790/postback/${name}`,
    )
    expect(verdict(read(requestOf(call), network))).toBe(`${entry} T/1&x=ü u 1+é 12500`)
    const forged = signPostback(network.profile, 'other', { ...CALL, entry }, '/p')
    expect(read(requestOf(forged), network).outcome?.outcome).toBe('bad_signature')
  }
})

test('negative amounts, reference fields and prefixes follow the profile', () => {
  const network = neutral(
    'raw',
    {},
    { amountSign: 'negative-on-reversal', reversalOf: { stripPrefix: 'r-' } },
  )
  const call = signPostback(network.profile, 'rawkey', { ...CALL, entry: 'reversal' }, '/p')
  expect(call.url).toContain('tx=r-T%2F1')
  expect(call.url).toContain('amount=-12.5')
  expect(verdict(read(requestOf(call), network))).toBe('reversal T/1&x=ü u 1+é 12500')
})

test('the signed URL covers the address', () => {
  const signature = { message: { url: { without: 'signature' } }, digest: { hmac: 'sha256', key: 'secret' } }
  const network = neutral('raw', { publicUrl: 'https://coins.example' }, { signature })
  const call = signPostback(network.profile, 'rawkey', CALL, 'https://coins.example/postback/raw')
  expect(verdict(read(requestOf(call), network))).toBe('credit T/1&x=ü u 1+é 12500')
})

test('Sharklio: the worked example, and renamed parameters', () => {
  const profile = findProfile('sharklio')
  if (profile === null) throw new Error('The profile is missing.')
  const details = {
    user: 'user_42',
    amount: '315',
    transactionId: 'tx_8f31',
    entry: 'credit',
    eventId: 'ev_1',
  } as const
  const hash = '0929dda3706664a6348f80d289f6109578d7ff2cfdb1a670071802c91eab4b7e'
  expect(signPostback(profile, 'test-postback-key', details, '/postback/sharklio')).toEqual({
    method: 'GET',
    url: `/postback/sharklio?tx=tx_8f31&user=user_42&reward=315&status=1&event=ev_1&hash=${hash}`,
    headers: {},
    body: '',
  })
  const renamed = signPostback(profile, 'test-postback-key', details, '/p', { user: 'uid' })
  expect(renamed.url).toContain('&uid=user_42&')
  expect(renamed.url).toContain(hash)
})
