/**
 * Puts the admin API's app behind node:http.
 *
 * @module
 */
import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import type { AdminEnv } from './admin-context.js'
import { badRequest, failureOf } from './api-error.js'

/**
 * Makes the listener of the admin API.
 *
 * The adapter builds a URL out of the Host header and turns a request away where that fails. Nothing here depends on
 * the host that was called, and health probes by HTTP/1.0 name none, so every request gets the same one.
 */
export function createAdminListener(app: Hono<AdminEnv>): RequestListener {
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false, errorHandler: unreadable })
  return (request, response) => {
    request.headers.host = 'localhost'
    void listener(request, response)
  }
}

/** What arrives here became no URL; the app's own failures are answered by the app. */
function unreadable(): Response {
  const { status, body } = failureOf(
    badRequest('The request target', 'is no path', 'Send a path that begins with "/", ids percent-encoded.'),
  )
  return Response.json(body, {
    status,
    headers: { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' },
  })
}
