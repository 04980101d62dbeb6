/**
 * Sends calls over real sockets and measures how long their answers take.
 *
 * @module
 */
import { Agent, request } from 'node:http'
import { expect } from 'vitest'
import type { Call } from './calls.js'

export interface Reply {
  readonly status: number
  readonly body: string
}

/** Networks give up on an answer after about this time. */
const LIMIT_MS = 5_000

const agent = new Agent({ keepAlive: true, maxSockets: 256 })

/** Sends one call and takes its answer, in time. */
export async function exchange(base: string, call: Call): Promise<Reply> {
  const sentAt = performance.now()
  const reply = await new Promise<Reply>((resolve, reject) => {
    const { hostname, port } = new URL(base)
    const length = call.body === null ? {} : { 'content-length': String(call.body.length) }
    const outgoing = request(
      {
        agent,
        hostname,
        port,
        method: call.method,
        path: call.target,
        headers: { ...call.headers, ...length },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(call.body ?? undefined)
  })
  expect(performance.now() - sentAt, `milliseconds until ${reply.status} for ${call.target}`).toBeLessThan(
    LIMIT_MS,
  )
  return reply
}
