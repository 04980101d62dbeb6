/**
 * What an error of `pg` means for the transaction that met it. Codes: PostgreSQL manual, Appendix A "PostgreSQL Error
 * Codes"; what to retry: section 13.5 "Serialization Failure Handling".
 *
 * @module
 */
import { StoreError, type StoreFailure } from '../../errors.js'

/**
 * Where a transaction stood when the error came.
 *
 * - `connect`: no connection yet.
 * - `read`: nothing was written; also BEGIN.
 * - `lock`: waiting for wallets.
 * - `write`: inside the transaction, waiting for keys.
 * - `single`: a statement that commits by itself.
 * - `commit`: COMMIT was sent.
 */
export type Phase = 'connect' | 'read' | 'lock' | 'write' | 'single' | 'commit'

/** The connection answered nothing for so long that it was given up. */
export class HungConnection extends Error {
  constructor(milliseconds: number) {
    super(`The database has not answered for ${milliseconds} ms.`)
    this.name = 'HungConnection'
  }
}

interface ServerFault {
  readonly code: string | null
  readonly severity: string | null
  readonly constraint: string | null
  readonly message: string
}

/** Turns a driver's error into the one class of action that it calls for. */
export function classifyError(error: unknown, phase: Phase): StoreError {
  const fault = faultOf(error)
  return new StoreError(failureOf(fault, phase), messageOf(fault, phase), error)
}

/** Whether the connection is of no use after this error and must not go back into the pool. */
export function breaksConnection(error: unknown): boolean {
  const { code, severity } = faultOf(error)
  if (code === null || severity === 'FATAL' || severity === 'PANIC') return true
  // 0A000 is "cached plan must not change result type", after a schema change: only a new connection forgets the plan.
  return code.startsWith('08') || code.startsWith('57P') || code === '0A000'
}

/** Whether a unique violation is that of our idempotency key; every other one is somebody else's rule. */
export function isKeyViolation(error: unknown, constraint: string): boolean {
  const fault = faultOf(error)
  return fault.code === '23505' && fault.constraint === constraint
}

function failureOf({ code, severity }: ServerFault, phase: Phase): StoreFailure {
  if (phase === 'connect') return 'away'
  if (phase === 'commit') return commitFailure(code, severity)
  if (code === null || code.startsWith('08') || severity === 'FATAL' || severity === 'PANIC') {
    return phase === 'single' ? 'unknown' : 'retry'
  }
  if (code === '55P03') return phase === 'lock' ? 'wallet_busy' : phase === 'write' ? 'key_busy' : 'retry'
  if (RETRY.has(code)) return 'retry'
  if (REFUSED_CLASSES.has(code.slice(0, 2)) || code === '54000') return 'refused'
  return 'away'
}

/**
 * A plain ERROR in answer to COMMIT means that the server rolled back. Everything else that can come leaves the fate of
 * the transaction open: no code, a connection's end, a shutdown, 40003 (statement completion unknown).
 */
function commitFailure(code: string | null, severity: string | null): StoreFailure {
  if (code === null || severity !== 'ERROR') return 'unknown'
  if (code === '40001' || code === '40P01' || code === '40002') return 'retry'
  return code.startsWith('23') ? 'refused' : 'unknown'
}

/** Serialization failure, deadlock, cancelled or timed out statement, aborted transaction, stale cached plan. */
const RETRY: ReadonlySet<string> = new Set(['40001', '40P01', '40002', '57014', '25P02', '0A000'])

/** Cardinality violation, data exception, constraint violation, WITH CHECK OPTION violation. */
const REFUSED_CLASSES: ReadonlySet<string> = new Set(['21', '22', '23', '44'])

function messageOf({ code, message }: ServerFault, phase: Phase): string {
  const detail = code === null ? message : `${message} (SQLSTATE ${code})`
  if (phase === 'connect') return `The database cannot be reached: ${detail}`
  if (phase === 'commit') return `The reply to COMMIT is missing or bad: ${detail}`
  if (code === '42P05' || code === '26000') {
    return `A named statement failed: ${detail}. Set pooler: true where pgbouncer or another pooler stands between.`
  }
  return `The database failed: ${detail}`
}

function faultOf(error: unknown): ServerFault {
  const fields = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  const code = textOf(fields['code'])
  const severity = textOf(fields['severity'])
  return {
    // Node's own codes (ECONNRESET) are no SQLSTATE: only the server's errors carry a severity.
    code: severity === null || !/^[0-9A-Z]{5}$/.test(code ?? '') ? null : code,
    severity,
    constraint: textOf(fields['constraint']),
    message: messageIn(error),
  }
}

/** Node reports a host with several addresses as one AggregateError whose own message is empty. */
function messageIn(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map((inner) => messageIn(inner)).join('; ')
  }
  return error instanceof Error ? error.message : String(error)
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
