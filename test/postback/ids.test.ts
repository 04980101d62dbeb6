import { expect, test } from 'vitest'
import { body, cat, get, neutral, neutralProfile, raw, read, signSort, verdict } from './calls.js'

const network = neutral('raw')
const call = (transaction: string, user = 'u1', more = '') =>
  read(raw(`user_id=${user}&tx=${transaction}&amount=10&status=1${more}`), network)

test.each([
  ['', 'transaction_id_empty'],
  ['%20%20', 'transaction_id_blank'],
  ['%00', 'transaction_id_control_character'],
  ['a%00b', 'transaction_id_control_character'],
  ['a%0D%0Ab', 'transaction_id_control_character'],
  ['null', 'transaction_id_placeholder: null'],
  ['UNDEFINED', 'transaction_id_placeholder: UNDEFINED'],
  ['None', 'transaction_id_placeholder: None'],
  ['nil', 'transaction_id_placeholder: nil'],
  ['{transaction_id}', 'transaction_id_unexpanded_macro: {transaction_id}'],
  ['%5BTXID%5D', 'transaction_id_unexpanded_macro: [TXID]'],
  ['%25%25TXID%25%25', 'transaction_id_unexpanded_macro: %%TXID%%'],
])('C31: transaction id "%s" is refused and kept', (transaction, reason) => {
  const reading = call(transaction)
  expect(reading).toMatchObject({ verified: true, claim: null, transactionKey: null, user: 'u1' })
  expect(reading.outcome).toEqual({ outcome: 'malformed', reason })
})

test('C31: a missing id is refused, 0 and look-alikes are ordinary ids', () => {
  expect(verdict(read(raw('user_id=u1&amount=10&status=1'), network))).toBe(
    'verified malformed missing_parameter: tx',
  )
  for (const id of ['0', 'nullable', '-', 'a b', 'test']) {
    expect(call(id.replace(' ', '+')).claim).toMatchObject({ transactionId: id, transactionKey: id })
  }
})

test('C31: a macro left unexpanded comes with a hint', () => {
  expect(call('{transaction_id}').hint).toContain('correct the macro')
  expect(verdict(call('T1', '{user_id}'))).toBe('verified malformed user_unexpanded_macro: {user_id}')
})

test('C33: an absent and an empty event are one thing, a broken one is refused', () => {
  expect(call('T1').claim?.eventId).toBeNull()
  expect(call('T1', 'u1', '&event=').claim?.eventId).toBeNull()
  expect(call('T1', 'u1', '&event=e1').claim?.eventId).toBe('e1')
  expect(verdict(call('T1', 'u1', '&event=%07'))).toBe('verified malformed event_id_control_character')
})

test('C33: the same holds inside a composite key', () => {
  const composite = neutral('raw', {}, { key: '{transactionId}|{eventId}' })
  const keyOf = (more: string) =>
    read(raw(`user_id=u1&tx=T1&amount=10&status=1${more}`), composite).claim?.transactionKey
  expect(keyOf('')).toBe('T1\u001f')
  expect(keyOf('&event=')).toBe('T1\u001f')
  expect(keyOf('&event=install')).toBe('T1\u001finstall')
})

test('C34: letter case is kept', () => {
  expect(['aBcD12', 'ABCD12', 'abcd12'].map((id) => call(id).claim?.transactionKey)).toEqual([
    'aBcD12',
    'ABCD12',
    'abcd12',
  ])
})

test('C36: accents and their compositions are kept apart', () => {
  expect(call('n1', 'jos%C3%A9').claim?.user).toBe('josé')
  expect(call('%C3%B1', 'jose').claim).toMatchObject({ user: 'jose', transactionId: 'ñ' })
  expect(call('n%CC%83').claim?.transactionId).toBe('n\u0303')
  expect(call('%EF%BB%BFa').claim?.transactionId).toBe('\ufeffa')
})

test('C38: a long id is refused with its reason, never cut', () => {
  expect(call('x'.repeat(255)).claim?.transactionId).toHaveLength(255)
  for (const length of [256, 300, 1000, 10_000]) {
    expect(verdict(call('x'.repeat(length)))).toBe('verified malformed transaction_id_too_long')
  }
  expect(verdict(call('T1', 'y'.repeat(300)))).toBe('verified malformed user_too_long')
  expect(call('%C3%A9'.repeat(127)).claim?.transactionId).toBe('é'.repeat(127))
  expect(verdict(call('%C3%A9'.repeat(128)))).toBe('verified malformed transaction_id_too_long')
})

test('C40: leading zeros and outer spaces belong to the id', () => {
  expect(call('T1', '001234').claim?.user).toBe('001234')
  expect(call('T1', '1234').claim?.user).toBe('1234')
  expect(call('T1', '+1234+').claim?.user).toBe(' 1234 ')
})

test('C42: NUL in free text is replaced and pays, in an id it is refused', () => {
  expect(call('T1', 'u1', '&offer=Win%00Big').claim?.offer).toBe('Win\ufffdBig')
  const escaped = '{"user_id":"u1","tx":"T1","amount":5,"offer":"Win\\u0000Big"}'
  expect(read(body(escaped), neutral('body')).claim?.offer).toBe('Win\ufffdBig')
  expect(verdict(read(body(escaped.replace('T1', 'T\\u0000')), neutral('body')))).toBe(
    'verified malformed transaction_id_control_character',
  )
})

test('free text is cut at 255 characters, never inside one', () => {
  expect(call('T1', 'u1', `&offer=${'%F0%9F%8E%81'.repeat(300)}`).claim?.offer).toBe('🎁'.repeat(255))
  expect(call('T1', 'u1', `&offer=${'x'.repeat(256)}`).claim?.offer).toBe('x'.repeat(255))
  expect(call('T1', 'u1', '&offer=').claim?.offer).toBeNull()
})

test.each([
  ['user_id=u1&user_id=u2&tx=H1&amount=10&status=1', 'user_id'],
  ['user_id=u1&tx=H1&amount=10&amount=9999&status=1', 'amount'],
  ['user_id=u1&tx=H2&tx=H3&amount=10&status=1', 'tx'],
  ['user_id=u1&tx=H2&tx=H2&amount=10&status=1', 'tx'],
  ['user_id=u1&%75ser_id=u2&tx=H1&amount=10&status=1', 'user_id'],
  ['user_id=u1&tx=H1&amount=10&status=1&offer=a&offer=b', 'offer'],
])('C71: %s is refused', (query, name) => {
  const reading = read(raw(query), network)
  expect(verdict(reading)).toBe(`verified malformed repeated_parameter: ${name}`)
  if (name === 'tx') expect(reading).toMatchObject({ transactionId: null, transactionKey: null })
})

test('C71: only the exact name counts, and a semicolon separates nothing', () => {
  expect(verdict(read(raw('user_id[]=u1&tx=H1&amount=10&status=1'), network))).toBe(
    'verified malformed missing_parameter: user_id',
  )
  expect(verdict(read(raw('USER_ID=u2&user_id=u1&tx=H1&amount=10&status=1'), network))).toBe(
    'credit H1 u1 10000',
  )
  expect(verdict(read(raw('user_id=u1&tx=a;user_id=u2&amount=10&status=1'), network))).toBe(
    'credit a;user_id=u2 u1 10000',
  )
})

test('C71: a signed field twice leaves a template scheme unverified', () => {
  const first = cat('u1', 'H1', '10')
  expect(verdict(read({ ...first, url: `${first.url}&user_id=u2` }, neutral('cat')))).toBe(
    'unverified malformed repeated_parameter: user_id',
  )
  expect(verdict(read({ ...first, url: `${first.url}&signature=00` }, neutral('cat')))).toBe(
    'unverified malformed repeated_parameter: signature',
  )
})

test('C71: query and form together never name one field twice', () => {
  const signature = signSort('amount=10&status=1&tx=H4&user_id=u2')
  const post = (url: string, form: string) =>
    read(get(url, { method: 'POST', body: Buffer.from(form) }), neutral('sort'))
  const rest = `tx=H4&amount=10&status=1&sig=${signature}`
  expect(verdict(post('/postback/sort?user_id=u1', `user_id=u2&${rest}`))).toBe(
    'unverified malformed repeated_parameter: user_id',
  )
  expect(verdict(post('/postback/sort?user_id=u2', rest))).toBe('credit H4 u2 10000')
  const queryOnly = neutral('raw', {}, { methods: ['GET', 'POST'] })
  const query = raw('user_id=u1&tx=H5&amount=10&status=1')
  expect(verdict(read({ ...query, method: 'POST', body: Buffer.from('user_id=u2') }, queryOnly))).toBe(
    'verified malformed repeated_parameter: user_id',
  )
})

test('C71: a doubled JSON name is refused, a doubled unknown one is not', () => {
  const network = neutral('body')
  expect(verdict(read(body('{"user_id":"u1","user_id":"u2","tx":"H6","amount":10}'), network))).toBe(
    'verified malformed repeated_parameter: user_id',
  )
  expect(verdict(read(body('{"user_id":"u1","tx":"H6","amount":10,"x":1,"x":2}'), network))).toBe(
    'credit H6 u1 10000',
  )
})

test('a header twice is refused', () => {
  const call = body('{"user_id":"u1","tx":"H6","amount":10}')
  const signature = call.headers['x-signature'] as string
  expect(
    verdict(read({ ...call, headers: { 'x-signature': [signature, signature] } }, neutral('body'))),
  ).toBe('unverified malformed repeated_parameter: x-signature')
})

test('JSON that cannot be used is told apart from a wrong signature', () => {
  const network = neutral('body')
  expect(verdict(read(body('{"user_id":'), network))).toBe('verified malformed json_unreadable')
  expect(verdict(read(body('{"user_id":["u1"],"tx":"H6","amount":10}'), network))).toBe(
    'verified malformed not_a_value: user_id',
  )
  expect(verdict(read(body('{"user_id":"u1","tx":null,"amount":10}'), network))).toBe(
    'verified malformed missing_parameter: tx',
  )
  expect(verdict(read(body('{"user_id":42,"tx":9007199254740993,"amount":10}'), network))).toBe(
    'credit 9007199254740993 42 10000',
  )
})

test('a reversal names its credit by the profile’s rule', () => {
  const fields = {
    ...(neutralProfile('raw')['fields'] as object),
    reference: { query: 'ref', optional: true },
  }
  const byField = neutral('raw', {}, { fields, reversalOf: '{reference}' })
  expect(read(raw('user_id=u1&tx=R9&ref=T1&amount=10&status=2'), byField).claim).toMatchObject({
    entry: 'reversal',
    transactionId: 'T1',
    transactionKey: 'T1',
  })
  expect(verdict(read(raw('user_id=u1&tx=R9&amount=10&status=2'), byField))).toBe(
    'verified malformed missing_parameter: ref',
  )
  const byPrefix = neutral('raw', {}, { reversalOf: { stripPrefix: 'r-' } })
  expect(read(raw('user_id=u1&tx=r-T1&amount=10&status=2'), byPrefix).claim?.transactionKey).toBe('T1')
  expect(read(raw('user_id=u1&tx=r-T1&amount=10&status=1'), byPrefix).claim?.transactionKey).toBe('r-T1')
  expect(verdict(read(raw('user_id=u1&tx=r-&amount=10&status=2'), byPrefix))).toBe(
    'verified malformed transaction_id_empty',
  )
})
