/**
 * The audit: balances against the ledger, every entry against the one before it, reversals against credits.
 *
 * @module
 */
import type { AuditBatch, LedgerStore } from '../ledger/store.js'
import { chainFinding, pairFinding, walletFindings, type Finding, type Severity } from './findings.js'
import { overwrittenCredit } from './overwritten-credit.js'

export type { Finding, Severity } from './findings.js'

export interface AuditOptions {
  /** Rows of one batch; default 500. */
  readonly batch?: number
  /** Findings that are listed for each severity; the others are only counted. Default 1,000. */
  readonly listed?: number
  readonly now?: () => Date
}

export interface AuditReport {
  readonly startedAt: Date
  readonly finishedAt: Date
  /** Errors first, then warnings, then what is only to be known. */
  readonly findings: readonly Finding[]
  /** How many there are of each severity, the ones that are not listed included. */
  readonly counts: Readonly<Record<Severity, number>>
  /** Users whose balance was compared, and the differences that each question brought up. */
  readonly checked: { readonly wallets: number; readonly chainBreaks: number; readonly pairFaults: number }
}

/**
 * Compares what is stored with what the rule allows; nothing is changed. Reads in keyset batches, so that it can run
 * beside a receiver at work.
 *
 * @example
 * ```ts
 * const report = await runAudit(store)
 * report.counts.error // 0
 * ```
 */
export async function runAudit(store: LedgerStore, options: AuditOptions = {}): Promise<AuditReport> {
  const { batch = 500, listed = 1_000, now = () => new Date() } = options
  const startedAt = now()
  const collected = new Collected(listed)
  const facts = { scale: store.amountScale, foreign: store.foreignWallets }

  const wallets = await inBatches(batch, store.auditWallets.bind(store), async (row) => {
    for (const finding of walletFindings(row, facts)) collected.add(finding)
  })
  const chainBreaks = await inBatches(batch, store.auditChains.bind(store), async (row) => {
    const overwritten = store.foreignWallets ? await overwrittenCredit(store, row) : null
    collected.add(chainFinding(row, overwritten, facts))
  })
  const pairFaults = await inBatches(batch, store.auditPairs.bind(store), async (row) => {
    collected.add(pairFinding(row, facts))
  })

  return {
    startedAt,
    finishedAt: now(),
    findings: collected.inOrder(),
    counts: collected.counts,
    checked: { wallets, chainBreaks, pairFaults },
  }
}

/** Whether an audit found something that needs somebody; outside movements and the like do not. */
export function auditFailed({ counts }: Pick<AuditReport, 'counts'>): boolean {
  return counts.error + counts.warning > 0
}

async function inBatches<T>(
  limit: number,
  read: (after: string | null, limit: number) => Promise<AuditBatch<T>>,
  visit: (item: T) => Promise<void>,
): Promise<number> {
  let count = 0
  let after: string | null = null
  do {
    const { items, next }: AuditBatch<T> = await read(after, limit)
    for (const item of items) await visit(item)
    count += items.length
    after = next
  } while (after !== null)
  return count
}

const ORDER: readonly Severity[] = ['error', 'warning', 'info']

class Collected {
  readonly counts: Record<Severity, number> = { error: 0, warning: 0, info: 0 }
  readonly #findings: Finding[] = []
  readonly #listed: number

  constructor(listed: number) {
    this.#listed = listed
  }

  add(finding: Finding): void {
    this.counts[finding.severity] += 1
    if (this.counts[finding.severity] <= this.#listed) this.#findings.push(finding)
  }

  inOrder(): Finding[] {
    return ORDER.flatMap((severity) => this.#findings.filter((finding) => finding.severity === severity))
  }
}
