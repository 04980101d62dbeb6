/**
 * The ledger entries of one wallet.
 *
 * @module
 */
import type { Hono } from 'hono'
import type { AdminContext, AdminEnv } from '../admin-context.js'
import { entryView } from '../api-views.js'
import { pathId, readBoolean, readPage, readQuery, single } from '../request-values.js'
import { unknownUser } from './wallets.js'

export function addEntryRoutes(app: Hono<AdminEnv>, { store }: AdminContext): void {
  app.get('/api/v1/wallets/:user/entries', async (call) => {
    const user = pathId(call, 1, 'user')
    const query = readQuery(call, ['cleared', 'limit', 'cursor'])
    const cleared = readBoolean(single(query, 'cleared'), 'cleared')
    const page = await store.listEntries(user, {
      ...readPage(query, 'number'),
      ...(cleared === undefined ? {} : { cleared }),
    })
    // A deleted wallet leaves its entries; only a user without either is unknown.
    if (page.items.length === 0 && (await store.readWallet(user)) === null) {
      throw unknownUser(user, store.foreignWallets)
    }
    return call.json({
      items: page.items.map((entry) => entryView(entry, store.amountScale)),
      nextCursor: page.nextCursor,
    })
  })
}
