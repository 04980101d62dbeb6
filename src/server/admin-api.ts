/**
 * The admin API: JSON under `/api/v1` behind a bearer token, health and metrics beside it.
 *
 * @module
 */
import { Hono } from 'hono'
import { PaidonceError } from '../errors.js'
import type { AdminCall, AdminContext, AdminEnv } from './admin-context.js'
import { failureOf } from './api-error.js'
import { addAdjustmentRoutes } from './routes/adjustments.js'
import { addAuditRoutes } from './routes/audit.js'
import { addEntryRoutes } from './routes/entries.js'
import { addHealthRoutes, bearerOf } from './routes/health.js'
import { addPostbackRoutes } from './routes/postbacks.js'
import { addTransactionRoutes } from './routes/transactions.js'
import { addWalletRoutes } from './routes/wallets.js'
import { checkTarget } from './request-values.js'

/**
 * Makes the admin API as a Hono app. No answer carries a CORS header, so that no foreign page can read one.
 */
export function createAdminApi(context: AdminContext): Hono<AdminEnv> {
  const app = new Hono<AdminEnv>()

  app.onError((error, call) => {
    const failure = failureOf(error)
    if (failure.status >= 500) {
      context.traffic.error(
        { error: error.stack ?? error.message, code: failure.body.error.code },
        'An admin request failed.',
      )
    }
    if (failure.status === 401) call.header('WWW-Authenticate', 'Bearer')
    // What is left of a body that was not read would be taken for the next request.
    if (failure.status === 413) call.header('Connection', 'close')
    return call.json(failure.body, failure.status)
  })
  app.notFound((call) => {
    if (!call.req.path.startsWith('/api/')) logUnknownPath(call, context)
    const { body, status } = failureOf(
      new PaidonceError('not_found', 'There is no such route.', {
        hint: 'GET /openapi.json lists every route.',
      }),
    )
    return call.json(body, status)
  })

  app.use('*', async (call, next) => {
    await next()
    call.header('Cache-Control', 'no-store')
    call.header('X-Content-Type-Options', 'nosniff')
  })
  app.use('/api/*', async (call, next) => {
    const presented = bearerOf(call)
    if (presented === null || !context.token.accepts(presented)) {
      throw new PaidonceError(
        'unauthorized',
        presented === null ? 'The request carries no admin token.' : 'The admin token is wrong.',
        {
          hint: 'Send "Authorization: Bearer TOKEN"; it was printed at the first start, or is PAIDONCE_ADMIN_TOKEN.',
        },
      )
    }
    await next()
  })
  app.use('/api/*', async (call, next) => {
    checkTarget(call.env.incoming?.url ?? null)
    await next()
  })

  addHealthRoutes(app, context)
  addWalletRoutes(app, context)
  addEntryRoutes(app, context)
  addAdjustmentRoutes(app, context)
  addPostbackRoutes(app, context)
  addTransactionRoutes(app, context)
  addAuditRoutes(app, context)
  return app
}

/** A network whose URL was set up with another path would lose every postback here without a word. */
function logUnknownPath(call: AdminCall, { traffic }: AdminContext): void {
  const path = call.req.path.replace(/[^ -~]/g, '?').slice(0, 100)
  if (new URL(call.req.url).search === '') traffic.debug({ path }, 'There is no such path.')
  else traffic.warn({ path }, 'A call to an unknown path: if it is a network, add the path to its "paths".')
}
