/**
 * Amounts: text on the wire, `bigint` minor units in code, text again at the edges. No JavaScript number
 * and no database ever parses an amount.
 *
 * @module
 */

/** Largest amount of one entry, in minor units. */
export const MAX_AMOUNT_MINOR = 10n ** 15n

/** A balance stays within plus or minus this many minor units, so that it fits DECIMAL(19) and int8. */
export const MAX_BALANCE_MINOR = 9n * 10n ** 18n

/** What to do with decimals beyond the scale. `reject` is the default: nothing is rounded in silence. */
export type Rounding = 'reject' | 'down' | 'half-even'

/** A non-negative decimal number, exact: `digits` divided by ten to the power of `decimals`. */
export interface Decimal {
  readonly digits: bigint
  readonly decimals: number
}

/** Why a text is not an amount. */
export type AmountFault = 'not_an_amount' | 'too_many_decimals' | 'amount_too_large'

const DECIMAL_GRAMMAR = /^(0|[1-9]\d{0,15})(\.\d{1,30})?$/

/** Reads unsigned decimal text by the one grammar, or returns null. Trailing zeros carry no meaning. */
export function parseDecimal(text: string): Decimal | null {
  if (!DECIMAL_GRAMMAR.test(text)) return null
  const point = text.indexOf('.')
  if (point < 0) return { digits: BigInt(text), decimals: 0 }
  const fraction = text.slice(point + 1).replace(/0+$/, '')
  return { digits: BigInt(text.slice(0, point) + fraction), decimals: fraction.length }
}

/** One spelling for each value: "1.0", "1.00" and "1" all become "1". */
export function decimalText({ digits, decimals }: Decimal): string {
  if (decimals === 0) return digits.toString()
  const padded = digits.toString().padStart(decimals + 1, '0')
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`
}

/** The exact product; used for payout × rate. */
export function multiply(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, decimals: a.decimals + b.decimals }
}

/**
 * Converts an exact decimal to minor units.
 *
 * @returns the minor units, or the fault: more decimals than the scale with `reject`, or beyond 10^15.
 */
export function toMinor(value: Decimal, scale: number, rounding: Rounding): bigint | AmountFault {
  const surplus = value.decimals - scale
  const minor =
    surplus <= 0
      ? value.digits * 10n ** BigInt(-surplus)
      : roundQuotient(value.digits, 10n ** BigInt(surplus), rounding)
  if (minor === null) return 'too_many_decimals'
  return minor > MAX_AMOUNT_MINOR ? 'amount_too_large' : minor
}

function roundQuotient(digits: bigint, divisor: bigint, rounding: Rounding): bigint | null {
  const quotient = digits / divisor
  const remainder = digits % divisor
  if (remainder === 0n || rounding === 'down') return quotient
  if (rounding === 'reject') return null
  const doubled = remainder * 2n
  if (doubled === divisor) return quotient % 2n === 0n ? quotient : quotient + 1n
  return doubled > divisor ? quotient + 1n : quotient
}

/**
 * Writes minor units with the full scale.
 *
 * @example
 * ```ts
 * import { formatMinor } from 'paidonce'
 *
 * formatMinor(-315_000n, 3) // "-315.000"
 * ```
 */
export function formatMinor(minor: bigint, scale: number): string {
  const sign = minor < 0n ? '-' : ''
  const text = (minor < 0n ? -minor : minor).toString()
  if (scale === 0) return sign + text
  const padded = text.padStart(scale + 1, '0')
  return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`
}

/**
 * Reads signed decimal text that a database or an operator wrote, exactly.
 *
 * @returns minor units, or null where the text is no decimal or has more decimals than the scale.
 */
export function parseMinor(text: string, scale: number): bigint | null {
  const match = /^(-?)(\d{1,20})(?:\.(\d+))?$/.exec(text)
  if (match === null) return null
  const fraction = (match[3] ?? '').replace(/0+$/, '')
  if (fraction.length > scale) return null
  const minor = BigInt((match[2] ?? '') + fraction.padEnd(scale, '0'))
  return match[1] === '-' ? -minor : minor
}
