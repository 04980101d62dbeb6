import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { lookUpProfile } from '../../src/catalogue/catalogue.js'
import { explainSignature } from '../../src/postback/explain.js'
import { resolveNetwork } from '../../src/postback/network.js'
import { decodeSignature } from '../../src/postback/signature.js'
import { body, cat, get, neutral, neutralProfile, raw, read, signRaw, signSort, verdict } from './calls.js'

const VECTOR = 'user_id=u1&tx=T100&amount=250&status=1'

test('check vectors of the four neutral schemes', () => {
  const rawSignature = '1d45b08f1d7008ed908556a7e92cef683d290d72333da4e147d27f7954420988'
  const sortSignature = 'faf7589767a9a979b498fdbe6e42d761be687aa808ee3b9216b189c7bd21b62d'
  const bodySignature = '196dc564c052a9f2596c0d2e7cdf5996674c14439b888f89c53ccc1ae77c492a'
  const calls = [
    read(get(`/postback/raw?${VECTOR}&sig=${rawSignature}`), neutral('raw')),
    read(get(`/postback/cat?${VECTOR}&signature=f53a4a43dc07db3a30d6e023625f1732`), neutral('cat')),
    read(get(`/postback/sort?${VECTOR}&sig=${sortSignature}`), neutral('sort')),
    read(
      get('/postback/sort', { method: 'POST', body: Buffer.from(`sig=${sortSignature}&${VECTOR}`) }),
      neutral('sort'),
    ),
    read(body('{"user_id":"u1","tx":"T100","amount":250,"status":1}', bodySignature), neutral('body')),
  ]
  expect(calls.map(verdict)).toEqual(Array(5).fill('credit T100 u1 250000'))
})

test.each([
  ['E1', 'Play+Now', 'd0fa95e97c44e4c10c86f72f2d79f08532e3c8b3c063ea109c6e549f5a1805fb', 'Play Now'],
  ['E2', 'Play%20Now', '1528d8dd7ccd3f7fe7e3238fd3d40167babdd9f25cfe24c1e12404c1ebf45f9c', 'Play Now'],
  ['E3', '1%2B1+free', 'e883e1393831d7208832167ce7ce9698cdcd1941159d91b8c46f2509b05170f3', '1+1 free'],
])('C61: plus sign and %%20, %s', (transaction, offer, signature, stored) => {
  const query = `user_id=u1&tx=${transaction}&amount=10&status=1&offer=${offer}`
  expect(read(get(`/postback/raw?${query}&sig=${signature}`), neutral('raw')).claim).toMatchObject({
    transactionId: transaction,
    offer: stored,
  })
})

test('C61: a base64 signature sent unescaped is read', () => {
  const signature = { ...(neutralProfile('raw')['signature'] as object), encoding: 'base64' }
  const network = neutral('raw', {}, { signature })
  let seen = ''
  for (let index = 0; index < 40; index += 1) {
    const query = `user_id=u1&tx=B${index}&amount=10&status=1`
    const text = createHmac('sha256', 'rawkey').update(query).digest('base64')
    seen += text
    expect(verdict(read(get(`/postback/raw?${query}&sig=${text}`), network))).toBe(
      `credit B${index} u1 10000`,
    )
    const escaped = encodeURIComponent(text)
    expect(verdict(read(get(`/postback/raw?${query}&sig=${escaped}`), network))).toBe(
      `credit B${index} u1 10000`,
    )
  }
  expect(seen).toMatch(/\+.*\/|\/.*\+/)
})

test('C63: unknown parameters are signed where they stand, order counts, nothing may follow', () => {
  const network = neutral('raw')
  expect(verdict(read(raw('user_id=u1&tx=G1&xnew=1&amount=10&status=1'), network))).toBe('credit G1 u1 10000')
  const signature = signRaw('user_id=u1&tx=G2&amount=10&status=1')
  const swapped = get(`/postback/raw?tx=G2&user_id=u1&amount=10&status=1&sig=${signature}`)
  expect(verdict(read(swapped, network))).toBe('unverified bad_signature signature_mismatch')
  const trailing = raw('user_id=u1&tx=G3&amount=10&status=1', '&key_id=9')
  expect(verdict(read(trailing, network))).toBe('unverified bad_signature text_after_signature: key_id')
})

test('C63: a trailing key is accepted for the network that documents it, and a field of money never', () => {
  const profile = neutralProfile('raw')
  const fields = { ...(profile['fields'] as object), keyId: { query: 'key_id', optional: true } }
  const digest = { hmac: 'sha256', key: 'secret' }
  const signature = { message: { query: { before: 'signature', after: ['keyId'] } }, digest }
  const network = neutral('raw', {}, { fields, signature })
  const query = 'user_id=u1&tx=G3&status=1&amount=10'
  expect(verdict(read(raw(query, '&key_id=9'), network))).toBe('credit G3 u1 10000')
  expect(verdict(read(raw(query, '&offer=x'), network))).toBe(
    'unverified bad_signature text_after_signature: offer',
  )
  const unsafe = { message: { query: { before: 'signature', after: ['amount'] } }, digest }
  expect(() => neutral('raw', {}, { signature: unsafe })).toThrow('a role that moves no money')
})

const GIFT = '{"user_id":"u1", "tx":"J1","amount":1.0,"offer":"Gift 🎁","url":"https:\\/\\/x.test\\/a"}'

test('C65: the bytes of the body are signed, emoji and all', () => {
  const signature = '2e5639b60002e2434bf818bfaf052349f8b1ffa3cabd49e045dd6017e2b3727a'
  expect(read(body(GIFT, signature), neutral('body')).claim).toMatchObject({
    transactionId: 'J1',
    amount: 1000n,
    receivedAmount: '1',
    offer: 'Gift 🎁',
    entry: 'credit',
  })
  const changed = read(body(GIFT.replace(', ', ','), signature), neutral('body'))
  expect(verdict(changed)).toBe('unverified bad_signature signature_mismatch')
})

test.each([
  ['E6', 'caf%C3%A9', '6939bc7371a975828b7a50346700804fdbaaf836bcf3e950f69c4c595026dade', 'café'],
  ['E7', 'caf%E9', '7f345cb0ef5735fe0b6d2913d95910ea29a1e693a18a8067ab8dfd1d0c5739c1', 'caf\ufffd'],
  ['E8', '%u010D', '75355797d1950913d711dfe561ff25651ec43a2637da18a983014aac2b689225', '%u010D'],
])('C67: text that is not UTF-8 is verified as bytes, %s', (transaction, offer, signature, stored) => {
  const query = `user_id=u1&tx=${transaction}&amount=10&status=1&offer=${offer}`
  const reading = read(get(`/postback/raw?${query}&sig=${signature}`), neutral('raw'))
  expect(reading.claim).toMatchObject({ transactionId: transaction, amount: 10_000n, offer: stored })
})

test('C67: bad bytes in an id are refused, and two different ones never become one id', () => {
  const network = neutral('raw')
  expect(verdict(read(raw('user_id=%E9&tx=E9&amount=10&status=1'), network))).toBe(
    'verified malformed user_not_utf8',
  )
  for (const bytes of ['%E9', '%ED%A0%80', '%ED%A0%81', '%C0%AF', '%FF%FE%FD']) {
    const reading = read(raw(`user_id=u1&tx=${bytes}&amount=10&status=1`), network)
    expect(verdict(reading)).toBe('verified malformed transaction_id_not_utf8')
  }
})

test('C67: a template scheme hashes bytes that are not UTF-8', () => {
  const message = Buffer.concat([
    Buffer.from('amount=10&offer=caf'),
    Buffer.from([0xe9]),
    Buffer.from('&status=1&tx=S1&user_id=u1'),
  ])
  const signature = createHmac('sha256', 'sortkey').update(message).digest('hex')
  const call = get(`/postback/sort?user_id=u1&tx=S1&amount=10&status=1&offer=caf%E9&sig=${signature}`)
  expect(read(call, neutral('sort')).claim).toMatchObject({ transactionId: 'S1', offer: 'caf\ufffd' })
})

test('C69: glued fields: the amount grammar and an id pattern refuse the replays', () => {
  const signature = 'c4d0bc6ce68c418a551447d2760120f1'
  const call = (user: string, transaction: string, amount: string) =>
    get(`/postback/cat?user_id=${user}&tx=${transaction}&amount=${amount}&status=1&signature=${signature}`)
  const open = neutral('cat')
  expect(verdict(read(call('12', '3', '100'), open))).toBe('credit 3 12 100000')
  expect(verdict(read(call('1', '23', '100'), open))).toBe('credit 23 1 100000')
  expect(verdict(read(call('12', '31', '00'), open))).toBe('verified malformed amount_not_an_amount')
  const closed = neutral('cat', { idPattern: '^[A-Z]\\d{6}$' })
  for (const forged of [call('12', '3', '100'), call('1', '23', '100'), call('12', '31', '00')]) {
    expect(read(forged, closed).outcome).toMatchObject({ outcome: 'malformed' })
  }
  expect(verdict(read(cat('12', 'A123456', '100'), closed))).toBe('credit A123456 12 100000')
})

test('sorted pairs: a value that hides a known pair is refused', () => {
  const message = 'amount=10&offer=x&status=1&tx=P1&user_id=u1'
  const signature = signSort(message)
  const honest = get(`/postback/sort?amount=10&offer=x&status=1&tx=P1&user_id=u1&sig=${signature}`)
  expect(verdict(read(honest, neutral('sort')))).toBe('credit P1 u1 10000')
  const forged = get(`/postback/sort?amount=10&offer=x%26status%3D1&tx=P1&user_id=u1&sig=${signature}`)
  expect(verdict(read(forged, neutral('sort')))).toBe('unverified malformed ambiguous_parameter: offer')
})

test('the whole URL is signed as the network sees it', () => {
  const signature = { message: { url: { without: 'signature' } }, digest: { hmac: 'sha1', key: 'secret' } }
  const sign = (text: string) => createHmac('sha1', 'rawkey').update(text).digest('hex')
  const query = 'user_id=u1&tx=U1&amount=10&status=1'
  const origin = neutral('raw', { publicUrl: 'https://coins.example' }, { signature })
  const first = get(`/postback/raw?${query}&sig=${sign(`https://coins.example/postback/raw?${query}`)}`)
  expect(verdict(read(first, origin))).toBe('credit U1 u1 10000')
  const whole = neutral('raw', { publicUrl: 'https://coins.example/old.php' }, { signature })
  const second = get(`/internal?sig=${sign(`https://coins.example/old.php?${query}`)}&${query}`)
  expect(verdict(read(second, whole))).toBe('credit U1 u1 10000')
  expect(() => neutral('raw', {}, { signature })).toThrow('networks.raw.publicUrl is missing')
  const absolute = get(`https://coins.example/postback/raw?${query}&sig=00`)
  expect(verdict(read(absolute, origin))).toBe('unverified malformed absolute_request_target')
})

test('the query without its signature is signed wherever the signature stands', () => {
  const signature = { message: { query: { without: 'signature' } }, digest: { hmac: 'md5', key: 'secret' } }
  const network = neutral('raw', {}, { signature })
  const pairs = ['user_id=u1', 'tx=W1', 'amount=10', 'status=1']
  const digest = createHmac('md5', 'rawkey').update(pairs.join('&')).digest('hex')
  for (let place = 0; place <= pairs.length; place += 1) {
    const query = pairs.toSpliced(place, 0, `sig=${digest}`).join('&')
    expect(verdict(read(get(`/postback/raw?${query}`), network))).toBe('credit W1 u1 10000')
  }
})

test('several secrets are valid at once, in either case of hex', () => {
  const network = neutral('raw', { secret: 'newkey', previousSecrets: ['rawkey'] })
  const query = 'user_id=u1&tx=R1&amount=10&status=1'
  const old = get(`/postback/raw?${query}&sig=${signRaw(query).toUpperCase()}`)
  expect(verdict(read(old, network))).toBe('credit R1 u1 10000')
  const fresh = createHmac('sha256', 'newkey').update(query).digest('hex')
  expect(verdict(read(get(`/postback/raw?${query}&sig=${fresh}`), network))).toBe('credit R1 u1 10000')
  const wrong = createHmac('sha256', 'third').update(query).digest('hex')
  expect(verdict(read(get(`/postback/raw?${query}&sig=${wrong}`), network))).toContain('signature_mismatch')
})

test('a shared token is compared whole', () => {
  const network = neutral('raw', {}, { signature: { token: 'secret' } })
  const query = 'user_id=u1&tx=K1&amount=10&status=1'
  expect(verdict(read(get(`/p?${query}&sig=rawkey`), network))).toBe('credit K1 u1 10000')
  for (const wrong of ['rawke', 'rawkeyy', '', 'RAWKEY']) {
    expect(verdict(read(get(`/p?${query}&sig=${wrong}`), network))).toBe(
      'unverified bad_signature token_mismatch',
    )
  }
})

test('a signature is read by its grammar, never cut at a wrong character', () => {
  const full = 'ab'.repeat(32)
  expect(decodeSignature(full, '', 'hex', 32)?.length).toBe(32)
  for (const wrong of ['', full.slice(2), `${full.slice(2)}xx`, `${full}ab`, ` ${full}`, `0x${full}`]) {
    expect(decodeSignature(wrong, '', 'hex', 32)).toBeNull()
  }
  expect(decodeSignature(`sha256=${full}`, 'sha256=', 'hex', 32)?.length).toBe(32)
  expect(decodeSignature(full, 'sha256=', 'hex', 32)).toBeNull()
  const base64 = Buffer.alloc(20, 0xfb).toString('base64')
  expect(decodeSignature(base64, '', 'base64', 20)).toEqual(Buffer.alloc(20, 0xfb))
  expect(decodeSignature(base64, '', 'base64url', 20)).toBeNull()
  const base64url = Buffer.alloc(20, 0xfb).toString('base64url')
  expect(decodeSignature(base64url, '', 'base64url', 20)).toEqual(Buffer.alloc(20, 0xfb))
})

test('C73: a time stamp among the signed parameters refuses nobody', () => {
  for (const age of [120, 7200, 345_600]) {
    const query = `user_id=u1&tx=T${age}&amount=10&status=1&ts=${1_700_000_000 - age}`
    expect(verdict(read(raw(query), neutral('raw')))).toBe(`credit T${age} u1 10000`)
  }
})

test('what was signed is shown without the secret', () => {
  expect(explainSignature(cat('u1', 'T1', '10'), neutral('cat'))).toBe('u1T110{secret}')
  const network = resolveNetwork('sharklio', { profile: 'sharklio', secret: 'k' }, lookUpProfile)
  expect(explainSignature(get('/p?tx=t&user=u&reward=1&status=1&hash=0'), network)).toBe('t:u:1:1')
})
