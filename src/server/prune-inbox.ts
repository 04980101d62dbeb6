/**
 * Deletes what the inbox need not keep any longer, in small batches with pauses, so that no postback waits for it.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { LedgerStore } from '../ledger/store.js'
import type { Logger } from './logger.js'
import type { InboxSettings } from './settings.js'

const DAY_MS = 24 * 60 * 60 * 1000

export interface PruneOptions {
  /** Rows deleted at once; default 500. */
  readonly batch?: number
  /** Milliseconds between two batches; default 100. */
  readonly pauseMs?: number
  /** Stops between two batches. */
  readonly signal?: AbortSignal
}

/**
 * Deletes verified calls older than `verifiedDays` and others older than `rejectedDays`; held calls and conflicts that
 * nobody has settled stay. Resolves to the number deleted.
 */
export async function pruneInbox(
  store: Pick<LedgerStore, 'prunePostbacks'>,
  inbox: Pick<InboxSettings, 'verifiedDays' | 'rejectedDays'>,
  now: number,
  { batch = 500, pauseMs = 100, signal }: PruneOptions = {},
): Promise<number> {
  let total = 0
  for (const verified of [false, true]) {
    const days = verified ? inbox.verifiedDays : inbox.rejectedDays
    const before = new Date(now - days * DAY_MS)
    while (signal?.aborted !== true) {
      const deleted = await store.prunePostbacks({ verified, before, limit: batch })
      total += deleted
      if (deleted < batch) break
      await sleep(pauseMs)
    }
  }
  return total
}

const EVERY_MS = 60 * 60 * 1000

/** Prunes every hour, starting after the first; resolves, when what it returns is called, once no batch runs. */
export function startPruning(
  store: Pick<LedgerStore, 'prunePostbacks'>,
  inbox: Pick<InboxSettings, 'verifiedDays' | 'rejectedDays'>,
  logger: Logger,
  everyMs: number = EVERY_MS,
): () => Promise<void> {
  const stop = new AbortController()
  let running: Promise<void> = Promise.resolve()
  const prune = async (): Promise<void> => {
    try {
      const deleted = await pruneInbox(store, inbox, Date.now(), { signal: stop.signal })
      if (deleted > 0) logger.info({ deleted }, 'Old postbacks were deleted from the inbox.')
    } catch (error) {
      logger.warn(
        { error: error instanceof Error ? error.message : String(error) },
        'The inbox could not be pruned; the next hour tries again.',
      )
    }
  }
  const timer = setInterval(() => {
    running = running.then(prune)
  }, everyMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    stop.abort()
    await running
  }
}
