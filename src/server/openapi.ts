/**
 * The description of the admin API, kept by hand beside the routes; a test holds the two together.
 *
 * @module
 */
import { OUTCOMES } from '../outcome.js'
import { SCHEMAS } from './openapi-schemas.js'

type Json = Readonly<Record<string, unknown>>

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })
const text = (description: string): Json => ({ type: 'string', description })
const pageOf = (name: string): Json => ({
  type: 'object',
  required: ['items', 'nextCursor'],
  properties: { items: { type: 'array', items: ref(name) }, nextCursor: { type: ['string', 'null'] } },
})

const inPath = (name: string, description: string): Json => ({
  name,
  in: 'path',
  required: true,
  description: `${description}, percent-encoded; neither "." nor "..".`,
  schema: { type: 'string' },
})
const inQuery = (name: string, description: string, schema: Json = { type: 'string' }): Json => ({
  name,
  in: 'query',
  description,
  schema,
})
const repeatable = (name: string, description: string, items: Json = { type: 'string' }): Json => ({
  ...inQuery(name, `${description} May repeat.`, { type: 'array', items }),
  style: 'form',
  explode: true,
})

const USER = inPath('user', 'User id')
const POSTBACK_ID = inPath('id', 'Id of the postback')
const PAGE = [
  inQuery('limit', 'Items in one answer.', { type: 'integer', minimum: 1, maximum: 500, default: 50 }),
  inQuery('cursor', 'The nextCursor of the answer before; anything else is refused.'),
]
const TIME: Json = { type: 'string', format: 'date-time' }
const FILTERS = [
  repeatable('network', 'Network name.'),
  repeatable('user', 'User id.'),
  repeatable('transactionId', 'Transaction id.'),
  repeatable('outcome', 'Outcome.', { type: 'string', enum: OUTCOMES }),
  inQuery('open', 'Only calls that wait for a person or a later call, or only the others.', {
    type: 'boolean',
  }),
  inQuery('since', 'Received at or after.', TIME),
  inQuery('until', 'Received before.', TIME),
  inQuery('q', 'Beginning of a transaction or user id.'),
]

const answer = (description: string, schema: Json): Json => ({
  description,
  content: { 'application/json': { schema } },
})
const body = (schema: Json): Json => ({ required: true, content: { 'application/json': { schema } } })
const failure = (description: string): Json => answer(description, ref('Error'))
const UNAUTHORIZED = failure('No token, or a wrong one.')
const BAD_REQUEST = failure('A parameter is wrong; the message names it.')
const TOO_LARGE = failure('The body is larger than 64 KiB.')

/** One operation behind the token. */
function operation(summary: string, responses: Json, more: Json = {}): Json {
  return {
    summary,
    security: [{ token: [] }],
    ...more,
    responses: {
      ...responses,
      400: BAD_REQUEST,
      401: UNAUTHORIZED,
      ...('requestBody' in more ? { 413: TOO_LARGE } : {}),
    },
  }
}

const PATHS: Json = {
  '/api/v1/wallets': {
    get: operation(
      'List wallets',
      { 200: answer('Wallets in byte order of their user ids.', pageOf('Wallet')) },
      {
        parameters: [
          inQuery('prefix', 'Beginning of the user id.'),
          inQuery('negative', 'Only balances below zero.', { type: 'boolean' }),
          ...PAGE,
        ],
      },
    ),
  },
  '/api/v1/wallets/{user}': {
    get: operation(
      'Read a wallet',
      { 200: answer('The wallet.', ref('Wallet')), 404: failure('unknown_user') },
      {
        parameters: [USER],
      },
    ),
    put: operation(
      'Make a wallet',
      {
        200: answer('It existed.', ref('Wallet')),
        201: answer('It was made.', ref('Wallet')),
        409: failure('foreign_wallets: wallets are kept in the publisher’s own table.'),
      },
      { parameters: [USER] },
    ),
  },
  '/api/v1/wallets/{user}/entries': {
    get: operation(
      'List the ledger entries of a wallet',
      { 200: answer('Newest first.', pageOf('Entry')), 404: failure('unknown_user') },
      {
        parameters: [
          USER,
          inQuery('cleared', 'Cleared tests as well.', { type: 'boolean', default: false }),
          ...PAGE,
        ],
      },
    ),
  },
  '/api/v1/wallets/{user}/adjustments': {
    post: operation(
      'Correct a balance',
      {
        200: answer('The same key and content again; nothing was booked.', ref('Adjustment')),
        201: answer('Booked.', ref('Adjustment')),
        404: failure('unknown_user'),
        409: failure('key_conflict, insufficient_balance or balance_limit'),
      },
      {
        parameters: [
          USER,
          {
            name: 'X-Paidonce-Actor',
            in: 'header',
            description: 'Who does it.',
            schema: { type: 'string', default: 'api' },
          },
        ],
        requestBody: body({
          type: 'object',
          required: ['key', 'amount', 'reason'],
          additionalProperties: false,
          properties: {
            key: text('Idempotency key.'),
            amount: text('Signed decimal text, not zero.'),
            reason: text('Why.'),
            overdraw: { type: 'boolean', default: false, description: 'Allows a balance below zero.' },
          },
        }),
      },
    ),
  },
  '/api/v1/postbacks': {
    get: operation(
      'Search the inbox',
      { 200: answer('Newest first.', pageOf('Postback')) },
      {
        parameters: [...FILTERS, ...PAGE],
      },
    ),
  },
  '/api/v1/postbacks/{id}': {
    get: operation(
      'Read one postback',
      {
        200: answer('The call, what was signed and which check failed.', ref('PostbackDetail')),
        404: failure('unknown_postback'),
      },
      { parameters: [POSTBACK_ID] },
    ),
  },
  '/api/v1/postbacks/{id}/resolve': {
    post: operation(
      'Close an open postback',
      { 200: answer('It is closed.', ref('PostbackDetail')), 404: failure('unknown_postback') },
      {
        parameters: [POSTBACK_ID],
        requestBody: body({ type: 'object', required: ['reason'], properties: { reason: text('Why.') } }),
      },
    ),
  },
  '/api/v1/postbacks/reprocess': {
    post: operation(
      'Run kept postbacks again',
      { 200: answer('What it led to.', ref('Reprocess')) },
      {
        requestBody: body({
          type: 'object',
          required: ['filter'],
          additionalProperties: false,
          properties: { filter: ref('Filter'), dryRun: { type: 'boolean', default: true } },
        }),
      },
    ),
  },
  '/api/v1/transactions/{network}/{transactionId}': {
    get: operation(
      'Explain a transaction',
      {
        200: answer('Entries, calls, answers, and why.', ref('Transaction')),
        404: failure('unknown_transaction'),
      },
      { parameters: [inPath('network', 'Network name'), inPath('transactionId', 'Transaction id')] },
    ),
  },
  '/api/v1/audit': {
    get: operation('Read the last audit', { 200: answer('Its state and findings.', ref('Audit')) }),
    post: operation('Start an audit', { 202: answer('It runs.', ref('Audit')) }),
  },
  '/healthz': {
    get: { summary: 'The process runs', responses: { 200: answer('It does.', { type: 'object' }) } },
  },
  '/readyz': {
    get: {
      summary: 'The server should get traffic',
      responses: {
        200: answer('It should.', ref('Ready')),
        503: answer('It should not; the reason says why.', ref('Ready')),
      },
    },
  },
  '/metrics': {
    get: {
      summary: 'Prometheus metrics',
      description: 'From loopback, or with the token.',
      responses: { 200: { description: 'Text.', content: { 'text/plain': {} } }, 401: UNAUTHORIZED },
    },
  },
  '/openapi.json': {
    get: { summary: 'This description', responses: { 200: answer('OpenAPI 3.1.', { type: 'object' }) } },
  },
}

/** The OpenAPI 3.1 document that `/openapi.json` serves. */
export const OPENAPI: Json = {
  openapi: '3.1.0',
  info: {
    title: 'Paidonce admin API',
    version: '1',
    description: 'Amounts are decimal text with the full scale; times are RFC 3339 in UTC with milliseconds.',
  },
  components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } }, schemas: SCHEMAS },
  paths: PATHS,
}
