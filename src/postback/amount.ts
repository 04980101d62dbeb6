/**
 * Reads the amount of a call: its sign by the profile's rule, its unit and rate by exact arithmetic.
 *
 * @module
 */
import { decimalText, multiply, parseDecimal, toMinor, type Decimal, type Rounding } from '../money.js'
import type { PostbackEntry } from '../outcome.js'
import type { AmountSign } from './profile.js'

/** How one network's amounts become coins. */
export interface AmountRule {
  readonly unit: string
  /** Coins per unit; null where the network sends coins. */
  readonly rate: Decimal | null
  readonly rounding: Rounding
}

/** An amount without its sign. */
export interface ReadAmount {
  readonly minor: bigint
  readonly negative: boolean
  /** As received but without its sign, in the network's unit, in its one spelling. */
  readonly receivedAmount: string
}

export type AmountReadFault = 'amount_not_an_amount' | 'too_many_decimals' | 'amount_too_large'

/** Reads an amount, or tells why the text is none. A single minus sign may stand before it. */
export function readAmount(text: string, rule: AmountRule, scale: number): ReadAmount | AmountReadFault {
  const negative = text.startsWith('-')
  const received = parseDecimal(negative ? text.slice(1) : text)
  if (received === null) return TOO_LONG.test(text) ? 'amount_too_large' : 'amount_not_an_amount'
  const minor = toMinor(inCoins(received, rule), scale, rule.rounding)
  if (minor === 'not_an_amount') return 'amount_not_an_amount'
  if (typeof minor === 'string') return minor
  return { minor, negative, receivedAmount: decimalText(received) }
}

/** Whole numbers that the grammar refuses for their length alone. */
const TOO_LONG = /^-?[1-9]\d{16,254}$/

function inCoins(received: Decimal, { unit, rate }: AmountRule): Decimal {
  const isHundredths = unit === 'minor' || unit.endsWith('-cents')
  const whole = isHundredths ? { digits: received.digits, decimals: received.decimals + 2 } : received
  return rate === null ? whole : multiply(whole, rate)
}

/**
 * Whether the sign fits the entry. A sign against the rule is never guessed at: taking it for a typing
 * fault would make a reversal add money, or a credit take it.
 */
export function signFits(negative: boolean, entry: PostbackEntry, rule: AmountSign): boolean {
  if (rule === 'positive') return !negative
  return negative === (entry === 'reversal')
}
