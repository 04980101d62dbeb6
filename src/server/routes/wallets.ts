/**
 * Wallets: look up, list, make.
 *
 * @module
 */
import type { Hono } from 'hono'
import { PaidonceError } from '../../errors.js'
import type { AdminContext, AdminEnv } from '../admin-context.js'
import { walletView } from '../api-views.js'
import { badRequest } from '../api-error.js'
import { pathId, readBoolean, readPage, readQuery, single } from '../request-values.js'

export function addWalletRoutes(app: Hono<AdminEnv>, { store }: AdminContext): void {
  app.get('/api/v1/wallets', async (call) => {
    const query = readQuery(call, ['prefix', 'negative', 'limit', 'cursor'])
    const prefix = single(query, 'prefix')
    if (prefix === '') throw badRequest('prefix', 'is empty')
    const negative = readBoolean(single(query, 'negative'), 'negative')
    const page = await store.listWallets({
      ...readPage(query, 'id'),
      ...(prefix === undefined ? {} : { prefix }),
      ...(negative === undefined ? {} : { negative }),
    })
    return call.json({
      items: page.items.map((row) => walletView(row, store.amountScale)),
      nextCursor: page.nextCursor,
    })
  })

  app.put('/api/v1/wallets/:user', async (call) => {
    readQuery(call, [])
    const user = pathId(call, 1, 'user')
    if (store.foreignWallets) {
      throw new PaidonceError(
        'foreign_wallets',
        'Wallets are kept in your own table; Paidonce adds no rows to it.',
        {
          hint: 'Insert the user with your own application.',
        },
      )
    }
    const made = await store.createWallet(user)
    const wallet = (await store.readWallet(user)) ?? { user, balance: 0n }
    return call.json(walletView(wallet, store.amountScale), made ? 201 : 200)
  })

  app.get('/api/v1/wallets/:user', async (call) => {
    readQuery(call, [])
    const user = pathId(call, 1, 'user')
    const wallet = await store.readWallet(user)
    if (wallet === null) throw unknownUser(user, store.foreignWallets)
    return call.json(walletView(wallet, store.amountScale))
  })
}

/** There is no such wallet. */
export function unknownUser(user: string, foreign: boolean): PaidonceError {
  return new PaidonceError('unknown_user', `There is no wallet for user ${JSON.stringify(user)}.`, {
    hint: foreign
      ? 'Ids are compared byte for byte: check its spelling in your table.'
      : `Make it with PUT /api/v1/wallets/${encodeURIComponent(user)}.`,
  })
}
