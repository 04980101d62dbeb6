/**
 * Reads the body of one request, up to a limit.
 *
 * @module
 */
import type { IncomingMessage } from 'node:http'

/** Largest body of a postback in bytes; they are a few hundred. */
export const MAX_BODY_BYTES = 1024 * 1024

const EMPTY = Buffer.alloc(0)

/** Whether a request says that a body follows. */
export function announcesBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length']
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** Whether the announced length alone is beyond the limit. */
export function announcesTooMuch(request: IncomingMessage, limit = MAX_BODY_BYTES): boolean {
  return Number(request.headers['content-length'] ?? 0) > limit
}

/**
 * Resolves to the whole body, to `too_large` as soon as it is, or to `aborted` where the sender went away.
 */
export function readBody(
  request: IncomingMessage,
  limit = MAX_BODY_BYTES,
): Promise<Buffer | 'too_large' | 'aborted'> {
  if (!announcesBody(request)) return Promise.resolve(EMPTY)
  if (announcesTooMuch(request, limit)) return Promise.resolve('too_large')
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) {
        request.pause()
        resolve('too_large')
        return
      }
      chunks.push(chunk)
    })
    request.on('end', () => {
      resolve(chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks, size))
    })
    request.on('error', () => {
      resolve('aborted')
    })
    request.on('close', () => {
      resolve('aborted')
    })
  })
}
