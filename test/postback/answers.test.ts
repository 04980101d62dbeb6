import { expect, test } from 'vitest'
import { OUTCOMES, type Outcome } from '../../src/outcome.js'
import { answerFor, answersLose, type AnswerContext } from '../../src/postback/answers.js'
import { neutral } from './calls.js'

const CONTEXT: AnswerContext = {
  verified: true,
  entry: 'credit',
  transactionId: 'T1',
  user: 'u1',
  eventId: 'e1',
}
const NOTHING = { configured: {}, profile: {} }
const settled = (outcome: Outcome) => ({ outcome, reason: null })

test('every outcome has its default status', () => {
  const statuses = OUTCOMES.map((outcome) => [outcome, answerFor(settled(outcome), CONTEXT, NOTHING).status])
  expect(Object.fromEntries(statuses)).toEqual({
    credited: 200,
    reversed: 200,
    duplicate: 200,
    already_reversed: 200,
    conflict: 200,
    tombstoned: 200,
    refused: 200,
    held: 200,
    test: 200,
    ignored: 200,
    bad_signature: 403,
    ip_not_allowed: 403,
    malformed: 400,
    unknown_user: 500,
    failed: 500,
    overloaded: 503,
  })
  expect(answerFor(settled('credited'), CONTEXT, NOTHING)).toEqual({ status: 200, body: 'OK' })
  expect(answerFor(settled('malformed'), { ...CONTEXT, verified: false }, NOTHING).status).toBe(403)
})

test('groups are answered alike, and an outcome stands before its group', () => {
  const profile = {
    booked: { status: 200, body: '1' },
    duplicate: { status: 200, body: 'DUP' },
    unverified: { status: 403, body: '0' },
    conflict: { status: 409, body: 'CONFLICT' },
  }
  const bodyOf = (outcome: Outcome, context: Partial<AnswerContext> = {}) =>
    answerFor(settled(outcome), { ...CONTEXT, ...context }, { configured: {}, profile }).body
  for (const outcome of ['credited', 'reversed', 'held', 'test', 'ignored'] as const) {
    expect(bodyOf(outcome)).toBe('1')
  }
  expect(bodyOf('duplicate')).toBe('DUP')
  expect(bodyOf('already_reversed', { entry: 'reversal' })).toBe('DUP')
  expect(bodyOf('conflict')).toBe('CONFLICT')
  for (const outcome of ['tombstoned', 'refused'] as const) {
    expect(bodyOf(outcome, { entry: 'reversal' })).toBe('1')
    expect(bodyOf(outcome, { entry: 'credit' })).toBe('DUP')
  }
  expect(bodyOf('bad_signature', { verified: false })).toBe('0')
  expect(bodyOf('malformed', { verified: false })).toBe('0')
  expect(bodyOf('malformed')).toBe('malformed')
})

test('the configuration stands before the profile', () => {
  const answers = {
    configured: { booked: { status: 202, body: 'mine' } },
    profile: { credited: { status: 200, body: 'theirs' }, duplicate: { status: 200, body: 'DUP' } },
  }
  expect(answerFor(settled('credited'), CONTEXT, answers)).toEqual({ status: 202, body: 'mine' })
  expect(answerFor(settled('duplicate'), CONTEXT, answers).body).toBe('DUP')
})

test('placeholders are filled in as plain text', () => {
  const bodyOf = (body: string, context: Partial<AnswerContext>) =>
    answerFor(
      settled('credited'),
      { ...CONTEXT, ...context },
      { configured: {}, profile: { booked: { status: 200, body } } },
    ).body
  expect(bodyOf('{eventId}:OK', {})).toBe('e1:OK')
  expect(bodyOf('{eventId}:OK', { eventId: null })).toBe(':OK')
  expect(bodyOf('{transactionId} {user}', { transactionId: '{user}', user: '$&' })).toBe('{user} $&')
  expect(bodyOf('{user}', { user: 'a\r\nb\u0000c' })).toBe('abc')
  expect(bodyOf('{"ResultCode":1}', {})).toBe('{"ResultCode":1}')
})

test('answers that end the retries of what was not booked are named', () => {
  const everySuccess = { statuses: null, bodies: null }
  const lost = (configured: object, delivered: Parameters<typeof answersLose>[1] = everySuccess) =>
    answersLose({ configured, profile: {} }, delivered)
  expect(lost({})).toEqual([])
  expect(lost({ failed: { status: 200, body: 'OK' }, overloaded: { status: 204, body: '' } })).toEqual([
    'failed',
    'overloaded',
  ])
  expect(lost({ unknown_user: { status: 403, body: '' } })).toEqual([])
  expect(lost({ unknown_user: { status: 403, body: '' } }, { statuses: [200, 403], bodies: null })).toEqual([
    'unknown_user',
  ])
  expect(lost({ failed: { status: 200, body: '0' } }, { statuses: null, bodies: ['1'] })).toEqual([])
})

test('such an answer is refused at start unless the loss is accepted', () => {
  const answers = { unknown_user: { status: 200, body: 'OK' } }
  expect(() => neutral('raw', { answers })).toThrow(
    'networks.raw.answers.unknown_user is "200 OK"; expected an answer that makes Raw send again',
  )
  expect(neutral('raw', { answers, acceptLoss: true }).answers.configured).toEqual(answers)
})
