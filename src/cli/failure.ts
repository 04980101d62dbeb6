/**
 * How errors leave the command line: a sentence with its hint, or one JSON object, and an exit status.
 *
 * @module
 */
import { CommanderError } from 'commander'
import { PaidonceError, StoreError } from '../errors.js'
import { ADDRESS_SOURCES, databaseFailureOf } from './database-failure.js'

export interface Failure {
  readonly exitCode: number
  readonly code: string
  readonly message: string
  readonly hint: string | null
}

/** The exit statuses: 0 fine, 1 the check found something or the work failed, 2 wrong usage, 130 interrupted. */
export const EXIT = Object.freeze({ fine: 0, found: 1, usage: 2, interrupted: 130 })

/** An error of usage, which ends with 2. */
export function usageError(message: string, hint?: string): PaidonceError {
  return new PaidonceError('usage', message, hint === undefined ? {} : { hint })
}

/** Classifies whatever a command threw. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, '')
    return {
      exitCode: EXIT.usage,
      code: 'usage',
      message,
      hint: 'Run the command with --help to see what it takes.',
    }
  }
  const database = databaseFailureOf(error)
  if (database !== null && (error instanceof PaidonceError || error instanceof StoreError)) {
    const { message, cure } = database
    const code = error instanceof PaidonceError ? error.code : 'database_away'
    return { exitCode: EXIT.found, code, message, hint: `${cure} ${ADDRESS_SOURCES}` }
  }
  if (error instanceof PaidonceError) {
    const isUsage = error.code === 'usage'
    return {
      exitCode: isUsage ? EXIT.usage : EXIT.found,
      code: error.code,
      message: error.message,
      hint: error.hint ?? null,
    }
  }
  if (error instanceof StoreError) {
    return {
      exitCode: EXIT.found,
      code: error.failure === 'away' ? 'database_away' : 'internal',
      message: error.message,
      hint: error.failure === 'away' ? `Check that the database runs. ${ADDRESS_SOURCES}` : null,
    }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { exitCode: EXIT.found, code: 'internal', message, hint: null }
}

/** The failure as it is written to stderr. */
export function failureText({ code, message, hint }: Failure, json: boolean): string {
  if (json) return `${JSON.stringify({ error: { code, message, hint } })}\n`
  return hint === null ? `error: ${message}\n` : `error: ${message}\n${hint}\n`
}
