/**
 * Reads the values of options; what cannot be read is wrong usage and named.
 *
 * @module
 */
import { InvalidArgumentError } from 'commander'
import { idFault, type IdFault } from '../ids.js'
import { parseDecimal } from '../money.js'
import { OUTCOMES, type Outcome } from '../outcome.js'

/** A whole number within bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`)
  }
}

/** An amount as a network sends it: unsigned decimal text. */
export function amountText(text: string): string {
  const decimal = parseDecimal(text)
  if (decimal !== null && decimal.digits > 0n) return text
  throw new InvalidArgumentError('Expected a decimal above zero such as 315 or 12.5.')
}

/** An id by the one grammar of ids. */
export function idText(text: string): string {
  const fault = idFault(text)
  if (fault === null) return text
  throw new InvalidArgumentError(ID_FAULTS[fault])
}

const ID_FAULTS: Readonly<Record<IdFault, string>> = {
  empty: 'It is empty.',
  blank: 'It is blank.',
  too_long: 'It is longer than 255 bytes.',
  control_character: 'It holds a control character.',
  unexpanded_macro: 'It is a macro that was not filled in.',
}

/** Why somebody did something, for the ledger and the inbox: 1 to 500 characters without control characters. */
export function reasonText(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are exactly what this looks for.
  const isText = text.trim() !== '' && !/[\u0000-\u001f\u007f-\u009f]/.test(text)
  if (isText && text.length <= 500) return text
  throw new InvalidArgumentError('Expected 1 to 500 characters without control characters.')
}

/** What an earlier list of calls gave as its cursor. Databases read a foreign one each in their own way. */
export function callCursor(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text.toLowerCase()
  throw new InvalidArgumentError('Expected the cursor that an earlier list gave.')
}

/** What an earlier list of wallets gave: a user of any table, also one that no network could name. */
export function walletCursor(text: string): string {
  const fault = idFault(text)
  if (fault !== 'too_long' && fault !== 'control_character') return text
  throw new InvalidArgumentError('Expected the cursor that an earlier list gave.')
}

/** A point in time, with its offset: without one it would mean another moment on another machine. */
export function instant(text: string): Date {
  const hasZone = /^\d{4}-\d{2}-\d{2}$/.test(text) || /(Z|[+-]\d{2}:\d{2})$/i.test(text)
  const time = new Date(text)
  if (hasZone && !Number.isNaN(time.getTime())) return time
  throw new InvalidArgumentError('Expected a time such as 2026-01-31 (UTC) or 2026-01-31T12:00:00Z.')
}

/** An option that may stand several times. */
export function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text]
}

export function collectOutcome(text: string, before: readonly Outcome[] | undefined): readonly Outcome[] {
  const outcome = OUTCOMES.find((known) => known === text)
  if (outcome !== undefined) return [...(before ?? []), outcome]
  throw new InvalidArgumentError(`Expected one of: ${OUTCOMES.join(', ')}.`)
}
