/**
 * The inbox: search, one call in full, closing an open one, running kept ones again.
 *
 * @module
 */
import type { Hono } from 'hono'
import { PaidonceError } from '../../errors.js'
import type { AdminContext, AdminEnv } from '../admin-context.js'
import { postbackDetail, postbackView } from '../api-views.js'
import { badRequest } from '../api-error.js'
import { FILTER_KEYS, readFilter } from '../postback-filter.js'
import {
  checkedObject,
  pathId,
  readBoolean,
  readJson,
  readPage,
  readQuery,
  readReason,
  UUID,
} from '../request-values.js'

export function addPostbackRoutes(app: Hono<AdminEnv>, context: AdminContext): void {
  const { store, receiver, logger } = context

  app.get('/api/v1/postbacks', async (call) => {
    const query = readQuery(call, [...FILTER_KEYS, 'limit', 'cursor'])
    const page = await store.listPostbacks(readFilter(query), readPage(query, 'uuid'))
    return call.json({
      items: page.items.map((row) => postbackView(row, context)),
      nextCursor: page.nextCursor,
    })
  })

  app.post('/api/v1/postbacks/reprocess', async (call) => {
    readQuery(call, [])
    const body = await readJson(call, ['filter', 'dryRun'])
    // Without a filter everything would run again: whoever wants that says so with an empty one.
    if (body['filter'] === undefined)
      throw badRequest('filter', 'is missing', 'Send {} for every kept postback.')
    const filter = readFilter(checkedObject(body['filter'], 'filter', FILTER_KEYS))
    const dryRun = readBoolean(body['dryRun'], 'dryRun') ?? true
    const result = await receiver.reprocess(filter, dryRun)
    if (!dryRun) logger.info({ counts: result.counts }, 'Kept postbacks were run again.')
    return call.json({ dryRun, ...result })
  })

  app.get('/api/v1/postbacks/:id', async (call) => {
    readQuery(call, [])
    const id = postbackId(pathId(call, 1, 'id'))
    const row = await store.readPostback(id)
    if (row === null) throw unknownPostback(id)
    return call.json(postbackDetail(row, context))
  })

  app.post('/api/v1/postbacks/:id/resolve', async (call) => {
    readQuery(call, [])
    const id = postbackId(pathId(call, 1, 'id'))
    const reason = readReason((await readJson(call, ['reason']))['reason'], 'reason')
    await store.resolvePostback(id, reason)
    // Closed before, or by a ledger entry in the meantime: what the caller wanted holds either way.
    const row = await store.readPostback(id)
    if (row === null) throw unknownPostback(id)
    return call.json(postbackDetail(row, context))
  })
}

/** The databases' uuid columns refuse any other text, which would look like a failure of theirs. */
function postbackId(id: string): string {
  if (!UUID.test(id)) throw unknownPostback(id)
  return id.toLowerCase()
}

function unknownPostback(id: string): PaidonceError {
  return new PaidonceError('unknown_postback', `There is no postback ${JSON.stringify(id)}.`, {
    hint: 'Find its id with GET /api/v1/postbacks; old calls are deleted after the days set in "inbox".',
  })
}
