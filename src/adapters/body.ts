/**
 * Reads a request's raw body, up to a bound.
 *
 * @module
 */
import type { IncomingMessage } from 'node:http'

/** Largest body in bytes; no network sends a hundredth of it. */
export const MAX_BODY_BYTES = 1024 * 1024

const EMPTY = Buffer.alloc(0)

/** The body, or null where it is larger than the bound. Rejects where the connection breaks. */
export function readBody(request: IncomingMessage, limit = MAX_BODY_BYTES): Promise<Buffer | null> {
  const { headers, method } = request
  if (method === 'GET' || method === 'HEAD' || headers['content-length'] === '0')
    return Promise.resolve(EMPTY)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) {
        request.pause()
        resolve(null)
      } else {
        chunks.push(chunk)
      }
    })
    request.on('end', () => {
      resolve(Buffer.concat(chunks))
    })
    request.on('error', reject)
  })
}
