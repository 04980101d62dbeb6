/**
 * Which requests are postbacks and which are the admin API's.
 *
 * @module
 */
import type { RequestListener } from 'node:http'
import type { PostbackHandler } from './postback-handler.js'

export interface DispatchOptions {
  readonly postback: PostbackHandler
  readonly admin: RequestListener
  /** Exact paths outside `/postback` that reach a network. */
  readonly extraPaths: ReadonlySet<string>
  /** Whether this port is the admin API's too. */
  readonly servesAdmin: boolean
  readonly isClosing: () => boolean
}

/** Orchestrators probe the port that gets the traffic, so health is answered on both. */
const HEALTH = new Set(['/healthz', '/readyz'])

/**
 * Tells whether a request target is the receiver's. What is no path at all is too: the receiver's handler refuses and
 * counts it.
 */
export function isPostback(
  target: string,
  { extraPaths, servesAdmin }: Pick<DispatchOptions, 'extraPaths' | 'servesAdmin'>,
): boolean {
  if (target.startsWith('/postback/') || !target.startsWith('/')) return true
  const end = target.indexOf('?')
  const path = end < 0 ? target : target.slice(0, end)
  if (path === '/postback' || extraPaths.has(path)) return true
  if (path.endsWith('/') && extraPaths.has(path.slice(0, -1))) return true
  return !servesAdmin && !HEALTH.has(path)
}

/** Makes the listener of the receiver's port. */
export function dispatch(options: DispatchOptions): RequestListener {
  const { postback, admin, isClosing } = options
  return (request, response) => {
    if (isClosing()) response.shouldKeepAlive = false
    if (isPostback(request.url ?? '', options)) void postback(request, response)
    else admin(request, response)
  }
}
