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
  /** Where inside functions it came up; null for our statement itself. */
  readonly context: string | null
  /** The function in the server's source. */
  readonly routine: string | null
  readonly message: string
}

/** Turns a driver's error into the one class of action that it calls for. */
export function classifyError(error: unknown, phase: Phase): StoreError {
  const fault = faultOf(error)
  return new StoreError(failureOf(fault, phase), messageOf(fault, phase), error)
}

/** Whether the connection is of no use after this error and must not go back into the pool. */
export function breaksConnection(error: unknown): boolean {
  const fault = faultOf(error)
  const { code, severity } = fault
  if (code === null || severity === 'FATAL' || severity === 'PANIC') return true
  // Only a new connection forgets a stale plan.
  return code.startsWith('08') || code.startsWith('57P') || isStalePlan(fault)
}

/** Whether a unique violation is that of our idempotency key; every other one is somebody else's rule. */
export function isKeyViolation(error: unknown, constraint: string): boolean {
  const fault = faultOf(error)
  return fault.code === '23505' && fault.constraint === constraint
}

function failureOf(fault: ServerFault, phase: Phase): StoreFailure {
  const { code, severity } = fault
  if (phase === 'connect') return 'away'
  if (phase === 'commit') return commitFailure(code, severity)
  if (code === null || code.startsWith('08') || severity === 'FATAL' || severity === 'PANIC') {
    return phase === 'single' ? 'unknown' : 'retry'
  }
  if (code === '55P03') return phase === 'lock' ? 'wallet_busy' : phase === 'write' ? 'key_busy' : 'retry'
  if (isStalePlan(fault) || RETRY.has(code)) return 'retry'
  if (AWAY.test(code) || isOurStatement(fault)) return 'away'
  // Whatever else a living server says is about the data, a publisher's trigger and its own codes included: the group is
  // split, and only the claim at fault pays for it.
  return 'refused'
}

/**
 * A plain ERROR in answer to COMMIT means that the server rolled back: a deferred constraint or trigger has refused.
 * Everything else that can come leaves the fate of the transaction open: no code, a connection's end, a shutdown or
 * cancellation, a server in trouble, 40003 (statement completion unknown).
 */
function commitFailure(code: string | null, severity: string | null): StoreFailure {
  if (code === null || severity !== 'ERROR' || code === '40003') return 'unknown'
  if (code.startsWith('40') || code === '55P03') return 'retry'
  return DOUBTFUL_AT_COMMIT.test(code) ? 'unknown' : 'refused'
}

/** Serialization failure, deadlock, cancelled or timed out statement, aborted transaction. */
const RETRY: ReadonlySet<string> = new Set(['40001', '40P01', '40002', '40003', '57014', '25P02', '55006'])

/**
 * Out of disk, memory or connections (53), shutting down (57P0x), in trouble with its files or configuration (58, F0),
 * read-only (25006).
 */
const AWAY = /^(53|57P|58|F0|25006)/

const DOUBTFUL_AT_COMMIT = /^(08|25006|53|57|58|F0|XX)/

/** "cached plan must not change result type", after a schema change; other users of the code are no reason to repeat. */
function isStalePlan({ code, routine }: ServerFault): boolean {
  return code === '0A000' && routine === 'RevalidateCachedQuery'
}

/**
 * Not the schema and rights that start() checked, or a named statement that a pooler lost: it fails for every claim
 * alike, and a network must not be told that its calls are malformed. The same codes from inside a function come with a
 * CONTEXT: that is a publisher's trigger. A row-level security policy has the code of missing rights, and judges rows.
 */
function isOurStatement({ code, context, routine }: ServerFault): boolean {
  if (code === null || context !== null || routine === 'ExecWithCheckOptions') return false
  return /^(26|28|3D|3F|42)/.test(code)
}

function messageOf({ code, message }: ServerFault, phase: Phase): string {
  const detail = code === null ? message : `${message} (SQLSTATE ${code})`
  if (phase === 'connect') return `The database cannot be reached: ${detail}`
  if (phase === 'commit') return `COMMIT failed, or its reply was lost: ${detail}`
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
    context: textOf(fields['where']),
    routine: textOf(fields['routine']),
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
