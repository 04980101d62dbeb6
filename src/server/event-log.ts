/**
 * Writes what became of postbacks to the log: every answer that is not a 200, and the outcomes that wait for a person.
 * No raw URL, no id and no secret gets there; the inbox holds the details.
 *
 * @module
 */
import type { ReceiverEvent } from '../receiver/types.js'
import type { Logger } from './logger.js'

/** Lines a second; a flood of forged calls must not fill a disk or slow the honest ones. */
const MAX_LINES = 50

type Level = 'debug' | 'info' | 'warn' | 'error'

/** Which level an event is logged at. */
export function levelOf({ outcome, status }: Pick<ReceiverEvent, 'outcome' | 'status'>): Level {
  if (outcome === 'failed') return 'error'
  if (outcome === 'method_not_allowed') return 'info'
  if (status !== 200 || outcome === 'conflict')
    return status < 400 && outcome !== 'conflict' ? 'info' : 'warn'
  return outcome === 'held' ? 'info' : 'debug'
}

/** Makes the observer that logs events, at most 50 lines a second; how many were left out is said afterwards. */
export function createEventLog(logger: Logger, now: () => number = Date.now): (event: ReceiverEvent) => void {
  let second = 0
  let lines = 0
  let leftOut = 0
  return (event) => {
    const level = levelOf(event)
    if (level !== 'debug') {
      const current = Math.floor(now() / 1000)
      if (current !== second) {
        if (leftOut > 0) logger.warn({ leftOut }, 'Further postback lines were left out in one second.')
        second = current
        lines = 0
        leftOut = 0
      }
      lines += 1
      if (lines > MAX_LINES) {
        leftOut += 1
        return
      }
    }
    const { network, outcome, reason, status, milliseconds } = event
    logger[level](
      { network: network.slice(0, 64), outcome, reason, status, milliseconds },
      'Postback answered.',
    )
  }
}
