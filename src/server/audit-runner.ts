/**
 * Runs audits in the background, one at a time, and keeps the last one's report.
 *
 * @module
 */
import { runAudit, type AuditReport } from '../audit/run-audit.js'
import type { LedgerStore } from '../ledger/store.js'
import type { Logger } from './logger.js'

/** Where the last or the running audit stands. */
export interface AuditStatus {
  readonly state: 'none' | 'running' | 'finished' | 'failed'
  readonly startedAt: Date | null
  /** Of the last finished audit, also while another one runs. */
  readonly report: AuditReport | null
}

export interface AuditRunner {
  /** Starts one unless one runs. */
  start(): AuditStatus
  status(): AuditStatus
  /** Resolves when none runs. */
  settled(): Promise<void>
}

export function createAuditRunner(
  store: LedgerStore,
  logger: Logger,
  run: (store: LedgerStore) => Promise<AuditReport> = runAudit,
): AuditRunner {
  let status: AuditStatus = { state: 'none', startedAt: null, report: null }
  let running: Promise<void> = Promise.resolve()

  const audit = async (): Promise<void> => {
    try {
      const report = await run(store)
      status = { state: 'finished', startedAt: report.startedAt, report }
    } catch (error) {
      status = { ...status, state: 'failed' }
      logger.error({ error: error instanceof Error ? error.message : String(error) }, 'The audit failed.')
    }
  }
  return {
    start() {
      if (status.state !== 'running') {
        status = { ...status, state: 'running', startedAt: new Date() }
        running = audit()
      }
      return status
    },
    status: () => status,
    settled: () => running,
  }
}
