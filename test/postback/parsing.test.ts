import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findInJson, readJson } from '../../src/postback/json.js'
import { bytesOf, decodeValue, splitParameters } from '../../src/postback/query.js'
import { get, neutral, raw, read } from './calls.js'

const pairs = (text: string) =>
  splitParameters(text).map(({ name, rawValue }) => [name, decodeValue(rawValue).text])

test('a query is split once, at & and the first =', () => {
  expect(pairs('a=1&b=2=3&&c&=4&a=5;d=6&%61=7')).toEqual([
    ['a', '1'],
    ['b', '2=3'],
    ['c', ''],
    ['', '4'],
    ['a', '5;d=6'],
    ['a', '7'],
  ])
  expect(pairs('')).toEqual([])
})

test('broken escapes stay as they are, bad bytes have no text', () => {
  expect(decodeValue('%').text).toBe('%')
  expect(decodeValue('%zz%4').text).toBe('%zz%4')
  expect(decodeValue('100%+%41').text).toBe('100% A')
  expect(decodeValue('%00').text).toBe('\u0000')
  expect(decodeValue('%e9').text).toBeNull()
  expect(bytesOf(decodeValue('%e9a'))).toEqual(Buffer.from([0xe9, 0x61]))
  expect(decodeValue('\u00e9').text).toBeNull()
  expect(decodeValue('\u00c3\u00a9').text).toBe('é')
})

test('property: every text survives encoding and decoding, in both spellings of a space', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }))),
      (given) => {
        const encode = (text: string) => encodeURIComponent(text).replaceAll('%20', '+')
        const plain = given.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
        expect(pairs(plain.join('&'))).toEqual(given)
        const plus = given.map(([name, value]) => `${encode(name)}=${encode(value)}`)
        expect(pairs(plus.join('&'))).toEqual(given)
      },
    ),
  )
})

test('property: all bytes come back, and two values with one text are one value', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const raw = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
      const value = decodeValue(raw)
      expect(bytesOf(value)).toEqual(Buffer.from(bytes))
      if (value.text !== null) expect(Buffer.from(value.text)).toEqual(Buffer.from(bytes))
    }),
  )
})

test('property: whatever is sent is a reading', () => {
  const network = neutral('raw')
  const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code))
  const odd = fc.string({
    unit: fc.oneof(byte, fc.constantFrom('&', '=', '%', '%e9', 'tx=', 'user_id=', '&sig=')),
  })
  fc.assert(
    fc.property(odd, (query) => {
      for (const reading of [read(get(`/p?${query}`), network), read(raw(query), network)]) {
        expect((reading.claim === null) !== (reading.outcome === null)).toBe(true)
      }
    }),
  )
  fc.assert(
    fc.property(odd, (text) => {
      const call = get('/p', { method: 'POST', body: Buffer.from(text, 'latin1') })
      expect(read(call, neutral('body')).claim).toBeNull()
    }),
  )
})

test('property: JSON is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.json(), fc.boolean(), (text, pretty) => {
      const value: unknown = JSON.parse(text)
      const root = readJson(
        Buffer.from(pretty ? JSON.stringify({ a: { value } }, null, 2) : `{"a":{"value":${text}}}`),
      )
      if (root === null) throw new Error(`This was not read: ${text}`)
      const found = findInJson(root, ['a', 'value'])
      if (value === null) expect(found).toBe('absent')
      else if (typeof value === 'object') expect(found).toBe('structure')
      else if (typeof value === 'string')
        expect(found).toMatchObject({ text: value.toWellFormed() === value ? value : null })
      else if (typeof found === 'object') expect(JSON.parse(found.text ?? '')).toBe(value)
      else throw new Error(`${text} was found to be ${found}`)
    }),
  )
})

test.each([
  '',
  '{',
  '{"a":1,}',
  '{"a" 1}',
  "{'a':1}",
  '[1,]',
  '01',
  '1.',
  '+1',
  'nul',
  '{"a":1}x',
  '"\\x"',
  '"\n"',
  '"\\u12"',
  '"a',
  '['.repeat(40),
])('no JSON: %s', (text) => {
  expect(readJson(Buffer.from(text))).toBeNull()
})

test('JSON: half a surrogate pair and bad bytes spoil their own value only', () => {
  const root = readJson(
    Buffer.concat([
      Buffer.from('{"a":"\\ud83c","b":"\\ud83c\\udf81","c":"'),
      Buffer.from([0xe9]),
      Buffer.from('","d":1.50}'),
    ]),
  )
  if (root === null) throw new Error('This was not read.')
  expect(['a', 'b', 'c', 'd'].map((name) => findInJson(root, [name]))).toMatchObject([
    { text: null },
    { text: '🎁' },
    { text: null },
    { text: '1.50' },
  ])
  expect(findInJson(root, ['__proto__'])).toBe('absent')
  expect(findInJson(root, ['d', 'x'])).toBe('structure')
})
