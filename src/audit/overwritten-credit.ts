/**
 * Recognises an app that read a balance, waited, and wrote it back over a credit that came in between.
 *
 * @module
 */
import type { ChainBreak, LedgerStore } from '../ledger/store.js'
import type { LedgerEntry } from '../ledger/types.js'

/** How many entries before the gap are looked at; an app holds a stale balance for seconds, not for ever. */
const LOOK_BACK = 20

/**
 * The credit that a gap of exactly minus its amount took away, or null where none fits. Of several, the newest before
 * the gap is named.
 */
export async function overwrittenCredit(store: LedgerStore, row: ChainBreak): Promise<LedgerEntry | null> {
  const gap = row.balanceAfter - row.amount - row.balanceBefore
  if (gap >= 0n) return null
  const before = await entriesBefore(store, row)
  return (
    before.find(({ entry, decision, amount, imported }) => {
      return entry === 'credit' && decision === 'booked' && !imported && amount === -gap
    }) ?? null
  )
}

async function entriesBefore(store: LedgerStore, { user, entryId }: ChainBreak): Promise<LedgerEntry[]> {
  const found: LedgerEntry[] = []
  let cursor: string | null = null
  let passed = false
  do {
    const page: { items: readonly LedgerEntry[]; nextCursor: string | null } = await store.listEntries(user, {
      limit: 200,
      cursor,
      cleared: true,
    })
    for (const entry of page.items) {
      if (passed) found.push(entry)
      if (entry.id === entryId) passed = true
    }
    cursor = page.nextCursor
  } while (cursor !== null && found.length < LOOK_BACK)
  return found.slice(0, LOOK_BACK)
}
