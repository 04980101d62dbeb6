/**
 * The log for lines that whoever calls can cause. All of them share one limit, so that no flood fills a disk or slows
 * the honest calls, and no known secret gets through, wherever a caller put it.
 *
 * @module
 */
import { redactText } from '../inbox/redact.js'
import type { Logger } from './logger.js'

/** Lines a second; errors have as many again, so that a flood of forged calls hides no failure. */
const MAX_LINES = 50
const SECOND_MS = 1000

export interface TrafficLogOptions {
  /** Replaced by `***` in every text among the facts. */
  readonly secrets?: readonly string[]
  readonly now?: () => number
}

/**
 * Makes the limited log; what was left out is said once the second is over. Lines at `debug` are not counted: who asks
 * for them wants all.
 */
export function createTrafficLog(logger: Logger, options: TrafficLogOptions = {}): Logger {
  const { secrets = [], now = Date.now } = options
  const hide = (facts: object): object => hidden(facts, secrets) as object
  const limit = createLimit(logger, now)
  return {
    debug: (facts, message) => {
      // One for every postback: most servers never write it.
      if (logger.isLevelEnabled?.('debug') !== false) logger.debug(hide(facts), message)
    },
    info: (facts, message) => {
      if (limit('line')) logger.info(hide(facts), message)
    },
    warn: (facts, message) => {
      if (limit('line')) logger.warn(hide(facts), message)
    },
    error: (facts, message) => {
      if (limit('error')) logger.error(hide(facts), message)
    },
  }
}

/** Tells whether one more line may be written now. */
function createLimit(logger: Logger, now: () => number): (kind: 'line' | 'error') => boolean {
  let second = 0
  let written = { line: 0, error: 0 }
  let leftOut = 0
  let timer: NodeJS.Timeout | null = null

  const tell = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (leftOut === 0) return
    logger.warn({ leftOut }, `Left out ${leftOut} lines about calls in one second.`)
    leftOut = 0
  }
  return (kind) => {
    const current = Math.floor(now() / SECOND_MS)
    if (current !== second) {
      tell()
      second = current
      written = { line: 0, error: 0 }
    }
    if (written[kind] < MAX_LINES) {
      written[kind] += 1
      return true
    }
    leftOut += 1
    // A flood that ends is told of as well; nothing would follow it that could.
    timer ??= setTimeout(tell, SECOND_MS).unref()
    return false
  }
}

function hidden(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return redactText(value, { secrets })
  if (Array.isArray(value)) return value.map((item: unknown) => hidden(item, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]: [string, unknown]) => [name, hidden(item, secrets)]),
  )
}
