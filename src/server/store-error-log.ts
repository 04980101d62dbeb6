/**
 * What the database says while it is in trouble. A postback's own line has only a stable code, and the reason behind
 * it is the first thing an operator asks for.
 *
 * @module
 */
import type { StoreError, StoreFailure } from '../errors.js'
import type { Logger } from './logger.js'

/** Each kind of failure is told once in this time; every attempt of every group fails alike while it lasts. */
const EVERY_MS = 5000

const LEVELS: Readonly<Record<StoreFailure, 'error' | 'warn' | 'info'>> = {
  away: 'error',
  unknown: 'error',
  refused: 'warn',
  retry: 'warn',
  key_busy: 'info',
  wallet_busy: 'info',
}

/** Makes the observer of a store's failures: each kind once in five seconds, with how many were left out. */
export function createStoreErrorLog(
  logger: Logger,
  now: () => number = () => performance.now(),
): (error: StoreError) => void {
  const told = new Map<StoreFailure, { at: number; leftOut: number }>()
  return ({ failure, message, cause }) => {
    const last = told.get(failure)
    if (last !== undefined && now() - last.at < EVERY_MS) {
      last.leftOut += 1
      return
    }
    told.set(failure, { at: now(), leftOut: 0 })
    const leftOut = last === undefined || last.leftOut === 0 ? {} : { leftOut: last.leftOut }
    logger[LEVELS[failure]](
      { failure, error: message, ...causeOf(cause), ...leftOut },
      'The database failed an attempt.',
    )
  }
}

function causeOf(cause: unknown): { readonly cause?: string } {
  if (cause === undefined) return {}
  if (!(cause instanceof Error)) return typeof cause === 'string' ? { cause } : {}
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
  // An AggregateError of several refused addresses has no message of its own.
  if (cause.message === '') return { cause: code === '' ? cause.name : code }
  return { cause: code === '' || cause.message.includes(code) ? cause.message : `${code}: ${cause.message}` }
}
