/**
 * Whether this server should get traffic: the database answers, the schema was current at start, and nobody told the
 * server to stop.
 *
 * @module
 */
import type { LedgerStore } from '../ledger/store.js'

/** A database that needs longer than this to say that it is there is not ready. */
const PING_LIMIT_MS = 1000

export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string }

/** Makes the check behind `/readyz`. */
export function createReadiness(
  store: Pick<LedgerStore, 'ping'>,
  isClosing: () => boolean,
  limitMs: number = PING_LIMIT_MS,
): () => Promise<Readiness> {
  // One ping at a time: a database that hangs must not collect a connection from every probe.
  let running: Promise<Readiness> | null = null
  const ping = async (): Promise<Readiness> => {
    try {
      await store.ping()
      return { ready: true }
    } catch {
      return { ready: false, reason: 'database_away' }
    } finally {
      running = null
    }
  }
  return async () => {
    if (isClosing()) return { ready: false, reason: 'shutting_down' }
    running ??= ping()
    const result = await withLimit(running, limitMs)
    return isClosing() ? { ready: false, reason: 'shutting_down' } : result
  }
}

async function withLimit(running: Promise<Readiness>, limitMs: number): Promise<Readiness> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<Readiness>((resolve) => {
    timer = setTimeout(() => {
      resolve({ ready: false, reason: 'database_slow' })
    }, limitMs)
  })
  try {
    return await Promise.race([running, limit])
  } finally {
    clearTimeout(timer)
  }
}
