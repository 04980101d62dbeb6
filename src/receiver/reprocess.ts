/**
 * Runs kept postbacks again under today's configuration: after a user was created, a secret was put right, a pause
 * ended. What was booked already stays as it is; the key sees to that.
 *
 * @module
 */
import type { Settlement } from '../commit/pending.js'
import { makeRow, requestOf } from '../inbox/row.js'
import { decide, walletOf, type Decision } from '../ledger/decide.js'
import { keyOf, pairOf, storedFrom, type GroupItem } from '../ledger/group.js'
import type { LedgerStore, Postback, PostbackFilter } from '../ledger/store.js'
import { OPEN_GATE, type Claim, type StoredEntry, type StoredPair } from '../ledger/types.js'
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

/** Without a filter on outcome, openness or transaction only open rows are run again. */
export async function reprocessPostbacks(
  context: ReprocessContext,
  filter: PostbackFilter,
  dryRun: boolean,
): Promise<ReprocessResult> {
  const counts: Partial<Record<Outcome, number>> = {}
  const items: ReprocessResult['items'][number][] = []
  const foreseen = new Map<string, StoredPair>()
  const ids = await oldestFirst(context.store, wantedBy(filter))
  for (let start = 0; start < ids.length; start += BATCH) {
    const rows = await readRows(context.store, ids.slice(start, start + BATCH))
    const results = dryRun
      ? await inTurn(rows, (row) => foresee(context, row, foreseen))
      : await Promise.all(rows.map((row) => runAgain(context, row)))
    results.forEach((settled, index) => {
      const { id, network, transactionId } = rows[index] as Postback
      counts[settled.outcome] = (counts[settled.outcome] ?? 0) + 1
      if (items.length < MAX_ITEMS) items.push({ id, network, transactionId, ...settled })
    })
  }
  return { counts, items }
}

function wantedBy(filter: PostbackFilter): PostbackFilter {
  const { outcome, open, transactionId } = filter
  return outcome === undefined && open === undefined && transactionId === undefined
    ? { ...filter, open: true }
    : filter
}

/** Calls are run in the order in which they came: of two that contradict each other, the first is booked. */
async function oldestFirst(store: LedgerStore, filter: PostbackFilter): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<LedgerStore['listPostbacks']>> = await store.listPostbacks(filter, {
      limit: MAX_ITEMS,
      cursor,
    })
    for (const { id } of page.items) ids.push(id)
    cursor = page.nextCursor
  } while (cursor !== null)
  return ids.reverse()
}

async function readRows(store: LedgerStore, ids: readonly string[]): Promise<Postback[]> {
  const rows = await Promise.all(ids.map((id) => store.readPostback(id)))
  return rows.filter((row) => row !== null)
}

async function inTurn<T>(rows: readonly Postback[], work: (row: Postback) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (const row of rows) results.push(await work(row))
  return results
}

interface Again {
  readonly network: Network
  readonly idSpace: string
  readonly reading: Reading
}

/** What the call says today, or why it is not run again. */
function readAgain(context: ReprocessContext, row: Postback): Again | Settled {
  // A person has settled it, perhaps by hand: paying it now would be paying it twice.
  if (row.resolvedReason !== null) return { outcome: row.outcome, reason: 'resolved_by_a_person' }
  if (SETTLED.includes(row.outcome)) {
    const repeat = row.entry === 'reversal' ? 'already_reversed' : 'duplicate'
    return { outcome: repeat, reason: 'settled_before' }
  }
  const network = context.networks.get(row.network)
  if (network === undefined) return { outcome: row.outcome, reason: `network_missing: ${row.network}` }
  const options = { amountScale: context.store.amountScale, postbackId: row.id }
  const reading = readPostback(requestOf(row), network, options)
  if (!reading.verified) return reading.outcome as Settled
  return { network, idSpace: context.idSpaceOf(network), reading }
}

async function runAgain(context: ReprocessContext, row: Postback): Promise<Settled> {
  const again = readAgain(context, row)
  if ('outcome' in again) return again
  const { reading, idSpace } = again
  const arrival = {
    id: row.id,
    network: row.network,
    idSpace,
    receivedAt: row.receivedAt,
    request: requestOf(row),
    reading,
  }
  const settlement = await context.submit({
    id: row.id,
    claim: reading.claim === null ? null : claimOf(reading, idSpace),
    fixed: reading.outcome,
    // The answer that left at the time stays what it was.
    row: (settled) => makeRow(arrival, settled, row.answer, row.milliseconds),
  })
  return settlement.settled
}

/** What would become of it now, after what would become of those before it; nothing is written. */
async function foresee(
  context: ReprocessContext,
  row: Postback,
  foreseen: Map<string, StoredPair>,
): Promise<Settled> {
  const again = readAgain(context, row)
  if ('outcome' in again) return again
  const { reading, idSpace } = again
  if (reading.claim === null) return reading.outcome as Settled
  const claim = claimOf(reading, idSpace)
  const pair = foreseen.get(keyOf(claim)) ?? (await readPair(context.store, claim))
  const decision = decide(
    pair,
    await wouldExist(context.store, pair, claim),
    claim,
    context.store.unknownUser,
  )
  foreseen.set(keyOf(claim), after(pair, claim, decision))
  return { outcome: decision.outcome, reason: decision.reason }
}

async function readPair(store: LedgerStore, claim: Claim): Promise<StoredPair> {
  const entries = await store.readTransaction(claim.idSpace, claim.transactionId)
  return pairOf(
    entries.filter(
      (entry): entry is typeof entry & StoredEntry =>
        entry.transactionKey === claim.transactionKey &&
        (entry.entry === 'credit' || entry.entry === 'reversal'),
    ),
  )
}

/** A credit's missing wallet would be made where that is the policy; a reversal's never is. */
async function wouldExist(store: LedgerStore, pair: StoredPair, claim: Claim): Promise<boolean> {
  const user = walletOf(pair, claim)
  if (user === null) return false
  if (store.unknownUser === 'create' && claim.entry === 'credit') return true
  return (await store.readWallet(user)) !== null
}

function after(pair: StoredPair, claim: Claim, { entries }: Decision): StoredPair {
  const written = entries.map((entry) => storedFrom(entry, claim))
  return pairOf([...written, ...[pair.credit, pair.reversal].filter((entry) => entry !== null)])
}

function claimOf(reading: Reading, idSpace: string): Claim {
  return { ...(reading.claim as NonNullable<Reading['claim']>), idSpace, gate: OPEN_GATE }
}
