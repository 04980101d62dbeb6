/**
 * Writes what became of postbacks to the log: every answer that is not a 200, and the outcomes that wait for a person.
 * No raw URL, no id and no secret gets there; the inbox holds the details.
 *
 * @module
 */
import type { ReceiverEvent } from '../receiver/types.js'
import type { Logger } from './logger.js'

type Level = 'debug' | 'info' | 'warn' | 'error'

/** Which level an event is logged at. */
export function levelOf({ outcome, status }: Pick<ReceiverEvent, 'outcome' | 'status'>): Level {
  if (outcome === 'failed') return 'error'
  if (outcome === 'method_not_allowed') return 'info'
  if (status !== 200 || outcome === 'conflict')
    return status < 400 && outcome !== 'conflict' ? 'info' : 'warn'
  return outcome === 'held' ? 'info' : 'debug'
}

/**
 * Makes the observer that logs events.
 *
 * @param traffic the limited log
 */
export function createEventLog(traffic: Logger): (event: ReceiverEvent) => void {
  return (event) => {
    const { network, outcome, reason, status, milliseconds } = event
    traffic[levelOf(event)](
      { network: network.slice(0, 64), outcome, reason, status, milliseconds },
      'Postback answered.',
    )
  }
}
