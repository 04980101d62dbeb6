/**
 * Reads the values of options; what cannot be read is wrong usage and named.
 *
 * @module
 */
import { InvalidArgumentError } from 'commander'
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
