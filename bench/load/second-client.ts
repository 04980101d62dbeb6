/**
 * A second client beside wrk: a few calls a second on connections that stay open, each followed to its end.
 *
 * @module
 */
import { Agent, request } from 'node:http'

export interface Answer {
  readonly path: string
  readonly status: number
  readonly milliseconds: number
}

export interface SecondClient {
  /** Sends one call now, without waiting for it. */
  send(path: string): void
  /** Resolves to every answer so far, when all have come. */
  settled(): Promise<readonly Answer[]>
  /** Sends until the answer is 200; false where it never is. */
  insist(path: string): Promise<boolean>
  close(): void
}

const TRIES = 50
const PAUSE_MS = 200

export function openSecondClient(base: string): SecondClient {
  const agent = new Agent({ keepAlive: true })
  const pending: Promise<Answer>[] = []
  return {
    send(path) {
      pending.push(call(agent, base, path))
    },
    settled: () => Promise.all(pending),
    async insist(path) {
      for (let tries = 0; tries < TRIES; tries += 1) {
        if ((await call(agent, base, path)).status === 200) return true
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
      return false
    },
    close() {
      agent.destroy()
    },
  }
}

function call(agent: Agent, base: string, path: string): Promise<Answer> {
  const before = performance.now()
  return new Promise((resolve, reject) => {
    const sent = request(base + path, { agent }, (response) => {
      response.resume()
      response.once('end', () => {
        resolve({ path, status: response.statusCode ?? 0, milliseconds: performance.now() - before })
      })
      response.once('error', reject)
    })
    sent.once('error', reject)
    sent.end()
  })
}
