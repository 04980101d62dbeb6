/**
 * Which answer a network gets for an outcome.
 *
 * @module
 */
import type { Answer, Outcome, PostbackEntry, Settled } from '../outcome.js'
import type { AnswerGroup, AnswerTemplate, AnswerTemplates, DeliveredRule } from './profile.js'

/** What an answer depends on beside the outcome, and what its placeholders stand for. */
export interface AnswerContext {
  readonly verified: boolean
  readonly entry: PostbackEntry | null
  readonly transactionId: string | null
  readonly user: string | null
  readonly eventId: string | null
}

/** The answers of one network: the configuration's, then the profile's, then the default. */
export interface NetworkAnswers {
  readonly configured: AnswerTemplates
  readonly profile: AnswerTemplates
}

/**
 * The answer for an outcome.
 *
 * A configured answer for the outcome or its group stands before the profile's; within one of them the
 * outcome stands before its group.
 */
export function answerFor(settled: Settled, context: AnswerContext, answers: NetworkAnswers): Answer {
  const template = templateFor(settled.outcome, context, answers)
  return { status: template.status, body: fill(template.body, context) }
}

/** Outcomes that ask the network to send again; an answer that counts as delivered would lose the reward. */
export const RETRY_OUTCOMES = ['failed', 'overloaded', 'unknown_user'] as const

/** The retry outcomes whose answer the network counts as delivered, so that it would not send again. */
export function answersLose(answers: NetworkAnswers, delivered: DeliveredRule): Outcome[] {
  const context = { verified: true, entry: 'credit', transactionId: '', user: '', eventId: '' } as const
  return RETRY_OUTCOMES.filter((outcome) => {
    const answer = templateFor(outcome, context, answers)
    const statusEnds = delivered.statuses?.includes(answer.status) ?? isSuccess(answer.status)
    return statusEnds && (delivered.bodies === null || delivered.bodies.includes(answer.body))
  })
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

function templateFor(outcome: Outcome, context: AnswerContext, answers: NetworkAnswers): AnswerTemplate {
  const group = groupOf(outcome, context)
  for (const source of [answers.configured, answers.profile]) {
    const template = source[outcome] ?? (group === null ? undefined : source[group])
    if (template !== undefined) return template
  }
  return defaultAnswer(outcome, context.verified)
}

/** The group of an outcome; a reversal that was tombstoned or refused is news, a credit is a repeat of it. */
export function groupOf(
  outcome: Outcome,
  { verified, entry }: Pick<AnswerContext, 'verified' | 'entry'>,
): AnswerGroup | null {
  switch (outcome) {
    case 'credited':
    case 'reversed':
    case 'held':
    case 'test':
    case 'ignored':
      return 'booked'
    case 'duplicate':
    case 'already_reversed':
    case 'conflict':
      return 'duplicate'
    case 'tombstoned':
    case 'refused':
      return entry === 'reversal' ? 'booked' : 'duplicate'
    case 'bad_signature':
    case 'ip_not_allowed':
      return 'unverified'
    case 'malformed':
      return verified ? null : 'unverified'
    case 'unknown_user':
    case 'failed':
    case 'overloaded':
      return null
  }
}

function defaultAnswer(outcome: Outcome, verified: boolean): AnswerTemplate {
  switch (outcome) {
    case 'bad_signature':
    case 'ip_not_allowed':
      return { status: 403, body: outcome }
    case 'malformed':
      return { status: verified ? 400 : 403, body: outcome }
    case 'unknown_user':
    case 'failed':
      return { status: 500, body: outcome }
    case 'overloaded':
      return { status: 503, body: outcome }
    default:
      return { status: 200, body: 'OK' }
  }
}

/** Names that an answer's body may hold in braces. */
export const ANSWER_PLACEHOLDERS = ['eventId', 'transactionId', 'user'] as const

// eslint-disable-next-line no-control-regex -- control characters are exactly what this removes.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g

function fill(body: string, context: AnswerContext): string {
  if (!body.includes('{')) return body
  return body.replace(/\{(eventId|transactionId|user)\}/g, (_, name: (typeof ANSWER_PLACEHOLDERS)[number]) =>
    (context[name] ?? '').replace(CONTROL, ''),
  )
}
