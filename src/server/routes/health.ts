/**
 * What orchestrators and Prometheus ask, outside `/api`.
 *
 * @module
 */
import type { Hono } from 'hono'
import type { AdminCall, AdminContext, AdminEnv } from '../admin-context.js'
import { PaidonceError } from '../../errors.js'
import { OPENAPI } from '../openapi.js'

export function addHealthRoutes(app: Hono<AdminEnv>, context: AdminContext): void {
  const { store, readiness, ledgerId, metrics, token } = context

  app.get('/healthz', (call) => call.json({ status: 'ok' }))

  app.get('/readyz', async (call) => {
    const state = await readiness()
    const facts = { ledgerId, store: store.dialect }
    return state.ready
      ? call.json({ status: 'ready', ...facts })
      : call.json({ status: 'not_ready', reason: state.reason, ...facts }, 503)
  })

  app.get('/metrics', async (call) => {
    const presented = bearerOf(call)
    if (!isLocal(call) && (presented === null || !token.accepts(presented))) {
      throw new PaidonceError('unauthorized', 'Metrics are for this machine or with the admin token.', {
        hint: 'Send "Authorization: Bearer TOKEN".',
      })
    }
    call.header('Content-Type', metrics.registry.contentType)
    return call.body(await metrics.registry.metrics())
  })

  app.get('/openapi.json', (call) => call.json(OPENAPI))
}

/** The token of the Authorization header, or null. */
export function bearerOf(call: { readonly req: Pick<AdminCall['req'], 'header'> }): string | null {
  return /^Bearer +([!-~]+) *$/i.exec(call.req.header('authorization') ?? '')?.[1] ?? null
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

/** A proxy on this machine connects from loopback for everybody: what it passes on is not local. */
function isLocal(call: AdminCall): boolean {
  const peer = call.env.incoming?.socket.remoteAddress ?? ''
  return LOOPBACK.test(peer) && PROXY_HEADERS.every((name) => call.req.header(name) === undefined)
}
