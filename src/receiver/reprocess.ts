/**
 * Runs kept postbacks again under today's configuration: after a user was created, a secret was put right, a pause
 * ended. What was booked already stays as it is; the key sees to that.
 *
 * @module
 */
import type { Settlement } from '../commit/pending.js'
import { makeRow, requestOf } from '../inbox/row.js'
import { decide, walletOf } from '../ledger/decide.js'
import { pairOf, type GroupItem } from '../ledger/group.js'
import type { LedgerStore, Postback, PostbackFilter } from '../ledger/store.js'
import { OPEN_GATE, type Claim, type StoredEntry } from '../ledger/types.js'
import type { Outcome, Settled } from '../outcome.js'
import type { Network } from '../postback/network.js'
import { readPostback, type Reading } from '../postback/read.js'
import type { ReprocessResult } from './types.js'

export interface ReprocessContext {
  readonly store: LedgerStore
  readonly networks: ReadonlyMap<string, Network>
  readonly idSpaceOf: (network: Network) => string
  readonly submit: (item: GroupItem) => Promise<Settlement>
}

const BATCH = 100
const MAX_ITEMS = 500

/** Outcomes that settled their call for good; running such a call again is a repeat. */
const SETTLED: readonly Outcome[] = [
  'credited',
  'reversed',
  'tombstoned',
  'refused',
  'duplicate',
  'already_reversed',
]

/** Without a filter on outcome or openness only open rows are run again. */
export async function reprocessPostbacks(
  context: ReprocessContext,
  filter: PostbackFilter,
  dryRun: boolean,
): Promise<ReprocessResult> {
  const wanted =
    filter.outcome === undefined && filter.open === undefined && filter.transactionId === undefined
      ? { ...filter, open: true }
      : filter
  const counts: Partial<Record<Outcome, number>> = {}
  const items: ReprocessResult['items'][number][] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<LedgerStore['listPostbacks']>> = await context.store.listPostbacks(
      wanted,
      { limit: BATCH, cursor },
    )
    // Oldest first within the page, as the calls came.
    const rows = [...page.items].reverse()
    const results = await Promise.all(rows.map((row) => runAgain(context, row, dryRun)))
    results.forEach((settled, index) => {
      const row = rows[index] as Postback
      counts[settled.outcome] = (counts[settled.outcome] ?? 0) + 1
      if (items.length < MAX_ITEMS) {
        items.push({ id: row.id, network: row.network, transactionId: row.transactionId, ...settled })
      }
    })
    cursor = page.nextCursor
  } while (cursor !== null)
  return { counts, items }
}

async function runAgain(context: ReprocessContext, row: Postback, dryRun: boolean): Promise<Settled> {
  if (SETTLED.includes(row.outcome)) {
    const repeat = row.entry === 'reversal' ? 'already_reversed' : 'duplicate'
    return { outcome: repeat, reason: 'settled_before' }
  }
  const network = context.networks.get(row.network)
  if (network === undefined) return { outcome: row.outcome, reason: `network_missing: ${row.network}` }
  const request = requestOf(row)
  const reading = readPostback(request, network, {
    amountScale: context.store.amountScale,
    postbackId: row.id,
  })
  if (!reading.verified) return reading.outcome as Settled
  const idSpace = context.idSpaceOf(network)
  if (dryRun) return foresee(context.store, reading, idSpace)
  const arrival = { id: row.id, network: row.network, idSpace, receivedAt: row.receivedAt, request, reading }
  const settlement = await context.submit({
    id: row.id,
    claim: reading.claim === null ? null : claimOf(reading, idSpace),
    fixed: reading.outcome,
    // The answer that left at the time stays what it was; a person's resolution too.
    row: (settled) => ({ ...makeRow(arrival, settled, row.answer, row.milliseconds) }),
  })
  return settlement.settled
}

/** What would become of it now; nothing is written. */
async function foresee(store: LedgerStore, reading: Reading, idSpace: string): Promise<Settled> {
  if (reading.claim === null) return reading.outcome as Settled
  const claim = claimOf(reading, idSpace)
  const entries = await store.readTransaction(idSpace, claim.transactionId)
  const pair = pairOf(
    entries.filter((entry) => entry.transactionKey === claim.transactionKey) as unknown as StoredEntry[],
  )
  const user = walletOf(pair, claim)
  // A credit's missing wallet would be made; a reversal's never is.
  const wouldMake = store.unknownUser === 'create' && claim.entry === 'credit'
  const exists = user !== null && (wouldMake || (await store.readWallet(user)) !== null)
  const { outcome, reason } = decide(pair, exists, claim, store.unknownUser)
  return { outcome, reason }
}

function claimOf(reading: Reading, idSpace: string): Claim {
  return { ...(reading.claim as NonNullable<Reading['claim']>), idSpace, gate: OPEN_GATE }
}
