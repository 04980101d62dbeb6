/**
 * Holds the configured ledger id against the database's own, so that a server never books into a restored copy or an
 * empty database by mistake.
 *
 * @module
 */
import { PaidonceError } from '../errors.js'
import type { LedgerStore } from '../ledger/store.js'

const SETTING = 'ledger_id'

/** The id that the database was given at its first start; null where it has none yet or cannot tell. */
export async function readLedgerId(store: Pick<LedgerStore, 'readSetting'>): Promise<string | null> {
  try {
    return await store.readSetting(SETTING)
  } catch {
    // A database without our tables answers with an error; one that is away fails the start that follows.
    return null
  }
}

/**
 * Compares the two.
 *
 * @throws PaidonceError `ledger_mismatch`
 */
export function checkLedgerId(expected: string | null, actual: string | null): void {
  if (expected === null || actual === null || expected === actual) return
  throw new PaidonceError(
    'ledger_mismatch',
    `ledgerId is ${JSON.stringify(expected)}, but this database is ${JSON.stringify(actual)}.`,
    { hint: 'Check the database URL; if this database is the right one, correct ledgerId.' },
  )
}
