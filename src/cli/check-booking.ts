/**
 * Judges whether copies of one call were booked exactly once. Pure.
 *
 * @module
 */
import { formatMinor } from '../money.js'
import type { PostbackEntry } from '../outcome.js'

export interface StoredBooking {
  readonly entry: string
  readonly user: string
  /** Minor units. */
  readonly amount: bigint
}

/** What is stored for one transaction key, and the balance of its wallet. */
export interface Booking {
  readonly entries: readonly StoredBooking[]
  /** Null where the wallet does not exist. */
  readonly balance: bigint | null
}

export interface BookingCheck {
  readonly ok: boolean
  /** Entries of the kind that the call asks for; once is right. */
  readonly rows: number
  readonly balanceBefore: string | null
  readonly balanceAfter: string | null
  readonly message: string
}

/**
 * Compares what was stored before the copies were sent with what is stored now: one entry of the asked kind, and the
 * balance moved by its amount once, or not at all where it had been booked before.
 */
export function checkBooking(
  entry: PostbackEntry,
  before: Booking,
  after: Booking,
  scale: number,
): BookingCheck {
  const rows = after.entries.filter((stored) => stored.entry === entry)
  const wasBooked = before.entries.some((stored) => stored.entry === entry)
  const from = before.balance ?? 0n
  const to = after.balance ?? 0n
  const expected = wasBooked ? 0n : (rows[0]?.amount ?? 0n)
  const facts = {
    rows: rows.length,
    balanceBefore: before.balance === null ? null : formatMinor(before.balance, scale),
    balanceAfter: after.balance === null ? null : formatMinor(after.balance, scale),
  }
  const moved = `balance ${facts.balanceBefore ?? '(no wallet)'} -> ${facts.balanceAfter ?? '(no wallet)'}`
  if (rows.length !== 1) {
    return { ...facts, ok: false, message: `${rowCount(rows.length, entry)} instead of 1; ${moved}.` }
  }
  if (to - from !== expected) {
    return {
      ...facts,
      ok: false,
      message: `1 ${entry} row, but the balance moved by ${formatMinor(to - from, scale)} instead of ${formatMinor(expected, scale)} (${moved}). Other movements of this wallet meanwhile would show here too.`,
    }
  }
  const once = wasBooked
    ? 'it had been booked before, and the balance stayed as it was'
    : `the balance moved once by ${formatMinor(expected, scale)}`
  return { ...facts, ok: true, message: `1 ${entry} row, ${once} (${moved}).` }
}

function rowCount(count: number, entry: string): string {
  return `${count} ${entry} row${count === 1 ? '' : 's'}`
}
