/**
 * Everything about one transaction: what was booked, every call, every answer, and a sentence that says why.
 *
 * @module
 */
import type { Hono } from 'hono'
import { PaidonceError } from '../../errors.js'
import { explainTransaction } from '../../inbox/explain.js'
import type { LedgerStore, Postback } from '../../ledger/store.js'
import type { LedgerEntry } from '../../ledger/types.js'
import type { AdminContext, AdminEnv } from '../admin-context.js'
import { entryView, postbackView } from '../api-views.js'
import { pathId, readQuery } from '../request-values.js'

/** Calls shown of one transaction; a network that sent more than this is explained by the newest. */
const MAX_CALLS = 1000
const PAGE = 500

export function addTransactionRoutes(app: Hono<AdminEnv>, context: AdminContext): void {
  const { store, networks } = context

  app.get('/api/v1/transactions/:network/:transactionId', async (call) => {
    readQuery(call, [])
    const network = pathId(call, 1, 'network')
    const transactionId = pathId(call, 2, 'transactionId')
    const configured = networks.get(network)?.network
    const names = [...new Set([network, ...(configured?.formerly ?? [])])]
    const spaces = [...new Set([configured?.idSpace ?? network, ...names])]
    const entries = await readEntries(store, spaces, transactionId)
    const { calls, complete } = await readCalls(store, names, transactionId)
    if (entries.length === 0 && calls.length === 0) {
      throw new PaidonceError(
        'unknown_transaction',
        `Network ${JSON.stringify(network)} has no transaction ${JSON.stringify(transactionId)}.`,
        {
          hint: explainTransaction({
            network,
            transactionId,
            entries,
            postbacks: calls,
            amountScale: store.amountScale,
          }),
        },
      )
    }
    return call.json({
      network,
      transactionId,
      explanation: explainTransaction({
        network,
        transactionId,
        entries,
        postbacks: calls,
        amountScale: store.amountScale,
      }),
      entries: entries.map((entry) => entryView(entry, store.amountScale)),
      postbacks: calls.map((row) => postbackView(row, context)),
      complete,
    })
  })
}

async function readEntries(
  store: LedgerStore,
  spaces: readonly string[],
  transactionId: string,
): Promise<LedgerEntry[]> {
  const found: LedgerEntry[] = []
  for (const space of spaces) found.push(...(await store.readTransaction(space, transactionId)))
  return found
}

async function readCalls(
  store: LedgerStore,
  network: readonly string[],
  transactionId: string,
): Promise<{ readonly calls: readonly Postback[]; readonly complete: boolean }> {
  const calls: Postback[] = []
  let cursor: string | null = null
  do {
    const page = await store.listPostbacks(
      { network, transactionId: [transactionId] },
      { limit: PAGE, cursor },
    )
    calls.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== null && calls.length < MAX_CALLS)
  return { calls, complete: cursor === null }
}
