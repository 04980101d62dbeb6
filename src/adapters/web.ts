/**
 * Web-standard `Request` and `Response`, for servers that speak them.
 *
 * @module
 */
import type { Receiver } from '../receiver/types.js'

export interface WebContext {
  /** The peer's address, which a web `Request` does not carry. */
  readonly remoteAddress: string
  /** The raw request target where the server still has it: a `URL` re-escapes quotes and angle brackets. */
  readonly rawUrl?: string
}

/**
 * Makes a fetch handler.
 *
 * @example
 * ```ts
 * import { paidonceWeb } from 'paidonce/web'
 * import type { Receiver } from 'paidonce'
 *
 * declare const receiver: Receiver
 * const handle = paidonceWeb(receiver)
 * export const GET = (request: Request) => handle(request, { remoteAddress: '203.0.113.7' })
 * ```
 */
export function paidonceWeb(
  receiver: Receiver,
): (request: Request, context: WebContext) => Promise<Response> {
  return async (request, { remoteAddress, rawUrl }) => {
    const { pathname, search } = new URL(request.url)
    const answer = await receiver.handle({
      method: request.method,
      url: rawUrl ?? pathname + search,
      headers: Object.fromEntries(request.headers),
      body: new Uint8Array(await request.arrayBuffer()),
      remoteAddress,
    })
    return new Response(answer.body, { status: answer.status, headers: answer.headers })
  }
}
