/**
 * Reads configured answers, of a network or of a profile.
 *
 * @module
 */
import { OUTCOMES, type Outcome } from '../outcome.js'
import { ANSWER_PLACEHOLDERS } from './answers.js'
import { configFault, expectFields, isFields, listed, unknownKey } from './config-fault.js'
import { templateParts } from './message.js'
import { ANSWER_GROUPS, type AnswerGroup, type AnswerTemplate, type AnswerTemplates } from './profile.js'

/** Longest body of an answer in characters; an answer is a word or two. */
const MAX_BODY = 255

// eslint-disable-next-line no-control-regex -- control characters are exactly what this looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** Checks answers by outcome or group. */
export function readAnswers(value: unknown, key: string): AnswerTemplates {
  if (value === undefined) return {}
  if (!isFields(value)) throw configFault(key, value, 'an object of answers')
  const names: readonly (Outcome | AnswerGroup)[] = [...OUTCOMES, ...ANSWER_GROUPS]
  const answers: Partial<Record<Outcome | AnswerGroup, AnswerTemplate>> = {}
  for (const [given, answer] of Object.entries(value)) {
    const name = names.find((candidate) => candidate === given)
    if (name === undefined) throw unknownKey(key, given, names)
    answers[name] = readAnswer(answer, `${key}.${name}`)
  }
  return answers
}

function readAnswer(value: unknown, key: string): AnswerTemplate {
  const { status, body } = expectFields(value, key, ['status', 'body'])
  if (!Number.isInteger(status) || !isAnswerStatus(Number(status))) {
    throw configFault(`${key}.status`, status, 'a whole number from 200 to 299 or 400 to 599')
  }
  if (typeof body !== 'string' || body.length > MAX_BODY || CONTROL.test(body)) {
    throw configFault(
      `${key}.body`,
      body,
      `a text of at most ${MAX_BODY} characters without control characters`,
    )
  }
  for (const { role } of templateParts(body)) {
    // Braces around anything that is no name belong to the text, as in a JSON body.
    if (role === null || !/^[A-Za-z]+$/.test(role)) continue
    if (!ANSWER_PLACEHOLDERS.some((name) => name === role)) {
      throw configFault(`${key}.body`, body, `only the placeholders ${listed(ANSWER_PLACEHOLDERS)}`)
    }
  }
  return { status: Number(status), body }
}

/** Never a redirect: some networks follow it with an empty GET and count the call as delivered. */
function isAnswerStatus(status: number): boolean {
  return (status >= 200 && status < 300) || (status >= 400 && status < 600)
}
