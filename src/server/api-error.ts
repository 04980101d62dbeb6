/**
 * Failures of the admin API as JSON: a stable code, what happened, what to do.
 *
 * @module
 */
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { PaidonceError, StoreError, type ErrorCode } from '../errors.js'

export interface ApiFailure {
  readonly status: ContentfulStatusCode
  readonly body: {
    readonly error: { readonly code: ErrorCode; readonly message: string; readonly hint: string | null }
  }
}

const STATUS: Partial<Record<ErrorCode, ContentfulStatusCode>> = {
  bad_request: 400,
  usage: 400,
  config_invalid: 400,
  unauthorized: 401,
  not_found: 404,
  unknown_network: 404,
  unknown_user: 404,
  unknown_postback: 404,
  unknown_transaction: 404,
  foreign_wallets: 409,
  key_conflict: 409,
  insufficient_balance: 409,
  negative_balance: 409,
  balance_limit: 409,
  overloaded: 503,
  database_away: 503,
}

/** A body beyond the limit: a request like any other wrong one, with the status that HTTP has for it. */
export class BodyTooLarge extends PaidonceError {}

/** Puts any error into the API's form; what is not meant for the caller stays out of it. */
export function failureOf(error: unknown): ApiFailure {
  if (error instanceof BodyTooLarge) return failure(413, error.code, error.message, error.hint)
  if (error instanceof PaidonceError && STATUS[error.code] !== undefined) {
    return failure(STATUS[error.code] ?? 500, error.code, error.message, error.hint)
  }
  if (error instanceof StoreError && error.failure === 'refused') {
    return failure(
      400,
      'bad_request',
      'The database refused a value of this request.',
      'Check ids, amounts and cursor.',
    )
  }
  if (error instanceof StoreError) {
    return failure(
      503,
      'overloaded',
      'The database did not answer in time.',
      'Send the request again; it is safe.',
    )
  }
  return failure(
    500,
    'internal',
    'The request failed for a reason that is in the log.',
    'Read the log of the server.',
  )
}

function failure(status: ContentfulStatusCode, code: ErrorCode, message: string, hint?: string): ApiFailure {
  return { status, body: { error: { code, message, hint: hint ?? null } } }
}

/** A request that cannot be understood; `name` is the parameter at fault. */
export function badRequest(name: string, problem: string, hint?: string): PaidonceError {
  return new PaidonceError('bad_request', `${name} ${problem}.`, hint === undefined ? {} : { hint })
}
