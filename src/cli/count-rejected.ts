/**
 * The calls that running open calls again leaves out: rejected ones, among which are those of a wrong secret.
 *
 * @module
 */
import type { LedgerStore, PostbackFilter } from '../ledger/store.js'
import type { Outcome } from '../outcome.js'

/** Not counted further: forged traffic can be endless, and the number only has to tell that there is something. */
export const COUNT_LIMIT = 1_000

/** Outcomes of calls that booked nothing, do not wait for anybody, and may pass under today's configuration. */
const REJECTED: readonly Outcome[] = ['bad_signature', 'ip_not_allowed', 'overloaded', 'failed']

/** How many there are of each such outcome, outcomes without any left out. */
export async function countRejected(
  store: Pick<LedgerStore, 'listPostbacks'>,
  filter: PostbackFilter,
): Promise<Partial<Record<Outcome, number>>> {
  const counts: Partial<Record<Outcome, number>> = {}
  for (const outcome of REJECTED) {
    const count = await countCalls(store, { ...filter, outcome: [outcome] })
    if (count > 0) counts[outcome] = count
  }
  return counts
}

async function countCalls(
  store: Pick<LedgerStore, 'listPostbacks'>,
  filter: PostbackFilter,
): Promise<number> {
  let count = 0
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<LedgerStore['listPostbacks']>> = await store.listPostbacks(filter, {
      limit: 500,
      cursor,
    })
    count += page.items.length
    cursor = page.nextCursor
  } while (cursor !== null && count < COUNT_LIMIT)
  return count
}
