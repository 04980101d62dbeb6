/**
 * The server's log: JSON lines on stderr, because stdout belongs to a command's data.
 *
 * @module
 */
import { pino } from 'pino'
import type { LogLevel } from './settings.js'

/** What the server writes to; a pino logger fits. */
export interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
  /** Where it is there, lines of a level that is off need not be made up. */
  isLevelEnabled?(level: string): boolean
}

export const SILENT_LOGGER: Logger = Object.freeze({
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
})

/** Makes the logger of the standalone server. */
export function createLogger(level: LogLevel): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    // Synchronous, so that the last lines before an exit are not lost; only failures are logged in the hot path.
    pino.destination({ dest: 2, sync: true }),
  )
}
