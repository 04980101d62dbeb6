/**
 * The shapes that the admin API answers with.
 *
 * @module
 */
import { OUTCOMES } from '../outcome.js'

type Json = Readonly<Record<string, unknown>>

const TEXT: Json = { type: 'string' }
const MAYBE_TEXT: Json = { type: ['string', 'null'] }
const FLAG: Json = { type: 'boolean' }
const COUNT: Json = { type: 'integer' }
const AMOUNT: Json = {
  type: 'string',
  description: 'Decimal text with the full scale.',
  examples: ['315.000'],
}
const MAYBE_AMOUNT: Json = { ...AMOUNT, type: ['string', 'null'] }
const TIME: Json = { type: 'string', format: 'date-time' }
const MAYBE_TIME: Json = { type: ['string', 'null'], format: 'date-time' }
const OUTCOME: Json = { type: 'string', enum: OUTCOMES }
const TEXTS: Json = { oneOf: [TEXT, { type: 'array', items: TEXT }] }

const object = (properties: Json): Json => ({ type: 'object', required: Object.keys(properties), properties })
const listOf = (name: string): Json => ({ type: 'array', items: { $ref: `#/components/schemas/${name}` } })

const POSTBACK: Json = {
  id: TEXT,
  network: TEXT,
  receivedAt: TIME,
  method: TEXT,
  url: { ...TEXT, description: 'The raw request target; secrets are shown as ***.' },
  ip: TEXT,
  outcome: OUTCOME,
  reason: MAYBE_TEXT,
  verified: FLAG,
  test: FLAG,
  transactionId: MAYBE_TEXT,
  entry: { type: ['string', 'null'], enum: ['credit', 'reversal', null] },
  user: MAYBE_TEXT,
  amount: MAYBE_AMOUNT,
  answer: object({ status: COUNT, body: TEXT }),
  milliseconds: { type: 'number' },
  open: FLAG,
  resolvedReason: MAYBE_TEXT,
}

/** Schemas by name. */
export const SCHEMAS: Json = {
  Error: object({ error: object({ code: TEXT, message: TEXT, hint: MAYBE_TEXT }) }),
  Wallet: object({ user: TEXT, balance: AMOUNT, available: AMOUNT }),
  Entry: object({
    id: TEXT,
    network: TEXT,
    transactionId: TEXT,
    entry: { type: 'string', enum: ['credit', 'reversal', 'withdrawal', 'withdrawal_return', 'adjustment'] },
    user: TEXT,
    amount: AMOUNT,
    balanceAfter: MAYBE_AMOUNT,
    createdAt: TIME,
    decision: { type: 'string', enum: ['booked', 'tombstone', 'refused', 'orphan'] },
    reason: MAYBE_TEXT,
    test: FLAG,
    imported: FLAG,
    cleared: FLAG,
    postbackId: MAYBE_TEXT,
    eventId: MAYBE_TEXT,
    offer: MAYBE_TEXT,
    payout: MAYBE_TEXT,
    receivedAmount: MAYBE_TEXT,
    unit: MAYBE_TEXT,
    rate: MAYBE_TEXT,
    actor: MAYBE_TEXT,
  }),
  Adjustment: object({
    key: TEXT,
    user: TEXT,
    amount: AMOUNT,
    reason: MAYBE_TEXT,
    balanceAfter: MAYBE_AMOUNT,
    entry: { $ref: '#/components/schemas/Entry' },
  }),
  Postback: object(POSTBACK),
  PostbackDetail: object({
    ...POSTBACK,
    headers: { type: 'object' },
    body: TEXT,
    signed: { ...MAYBE_TEXT, description: 'What the signature covers, the place of the secret marked.' },
    failedCheck: { ...MAYBE_TEXT, description: 'The check that an unverified call failed.' },
    advice: MAYBE_TEXT,
  }),
  Filter: {
    type: 'object',
    additionalProperties: false,
    properties: {
      network: TEXTS,
      user: TEXTS,
      transactionId: TEXTS,
      outcome: TEXTS,
      open: FLAG,
      since: TIME,
      until: TIME,
      q: TEXT,
    },
  },
  Reprocess: object({
    dryRun: FLAG,
    counts: { type: 'object', additionalProperties: COUNT },
    items: {
      type: 'array',
      maxItems: 500,
      items: object({
        id: TEXT,
        network: TEXT,
        transactionId: MAYBE_TEXT,
        outcome: OUTCOME,
        reason: MAYBE_TEXT,
      }),
    },
  }),
  Transaction: object({
    network: TEXT,
    transactionId: TEXT,
    explanation: TEXT,
    entries: listOf('Entry'),
    postbacks: listOf('Postback'),
    complete: { ...FLAG, description: 'False where there are more calls than are shown.' },
  }),
  Audit: object({
    state: { type: 'string', enum: ['none', 'running', 'finished', 'failed'] },
    startedAt: MAYBE_TIME,
    finishedAt: MAYBE_TIME,
    findings: { type: 'array', items: { type: 'object' } },
    counts: { type: ['object', 'null'] },
    checked: { type: ['object', 'null'] },
  }),
  Ready: {
    type: 'object',
    required: ['status', 'ledgerId', 'store'],
    properties: {
      status: { type: 'string', enum: ['ready', 'not_ready'] },
      reason: { type: 'string', enum: ['shutting_down', 'database_away', 'database_slow'] },
      ledgerId: MAYBE_TEXT,
      store: TEXT,
    },
  },
}
