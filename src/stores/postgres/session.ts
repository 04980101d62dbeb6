/**
 * One connection for one operation: every failure classified, no connection of doubtful state given back.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { StoreError } from '../../errors.js'
import { AS_TEXT, type PgClient, type PgPool, type PgResult, type TextRow } from './driver.js'
import { breaksConnection, classifyError, HungConnection, type Phase } from './errors.js'
import { createLeases, type Lease } from './leases.js'

/** A statement with a name derived from its text, so that two stores on one pool never share a name. */
export interface Statement {
  readonly text: string
  readonly name: string
}

export function statement(text: string): Statement {
  return { text, name: `paidonce_${createHash('sha256').update(text).digest('hex').slice(0, 20)}` }
}

export interface SessionOptions {
  readonly pool: PgPool
  /** No named statements, nothing set on a connection. */
  readonly pooler: boolean
  /** How long a statement may stay without an answer, beside the time that it may wait for locks. */
  readonly hangMs: number
  /** How long to wait for a connection. */
  readonly connectMs: number
}

export type Sessions = <T>(work: (session: Session) => Promise<T>) => Promise<T>

/** Runs work on a connection of the pool; the connection is destroyed where its state is in doubt. */
export function createSessions(options: SessionOptions): Sessions {
  const leases = createLeases(options)
  return async (work) => {
    const lease = leases.kept() ?? (await leases.take())
    const session = new Session(lease, options)
    try {
      return await work(session)
    } finally {
      await session.rollback()
      leases.giveBack(lease)
    }
  }
}

export class Session {
  readonly #lease: Lease
  readonly #options: SessionOptions
  #open = false
  #waitMs = 0

  constructor(lease: Lease, options: SessionOptions) {
    this.#lease = lease
    this.#options = options
  }

  /** Runs a prepared statement (unnamed behind a pooler). */
  async run(phase: Phase, { text, name }: Statement, values: unknown[]): Promise<TextRow[]> {
    const named = this.#options.pooler ? {} : { name }
    return (await this.#send(phase, { text, values, types: AS_TEXT, ...named })).rows as TextRow[]
  }

  /** Runs a statement whose text is made for this one call. */
  async runOnce(phase: Phase, text: string, values: unknown[] = []): Promise<TextRow[]> {
    return (await this.#send(phase, { text, values, types: AS_TEXT })).rows as TextRow[]
  }

  /** Begins with several statements in one simple query. `waitMs` is what its locks may take. */
  async begin(text: string, waitMs: number): Promise<void> {
    this.#waitMs = waitMs
    this.#open = true
    await this.#send('read', { text })
  }

  /**
   * Commits, and takes nothing for granted: COMMIT of a failed transaction answers ROLLBACK without an error, and a
   * cancelled wait for a synchronous standby answers COMMIT with a warning.
   */
  async commit(): Promise<void> {
    this.#lease.warnings.length = 0
    const result = await this.#send('commit', { text: 'commit' })
    this.#open = false
    this.#checkCommit(result)
  }

  #checkCommit({ command }: PgResult): void {
    if (command !== 'COMMIT') throw new StoreError('retry', `COMMIT was answered by ${command}.`)
    if (this.#lease.warnings.length > 0) {
      throw new StoreError('unknown', 'COMMIT was cut short before the synchronous standby confirmed it.')
    }
  }

  /**
   * A whole transaction of one statement: BEGIN, the statement and COMMIT are sent together, so that a pipelining pool
   * has one answer to wait for instead of three. A statement that fails turns COMMIT into ROLLBACK.
   */
  async transact(begin: string, waitMs: number, sent: Statement, values: unknown[]): Promise<TextRow[]> {
    this.#waitMs = waitMs
    this.#open = true
    this.#lease.warnings.length = 0
    // One packet instead of three: each would wake the server by itself.
    const socket = this.#lease.client.connection?.stream
    socket?.cork()
    const answers = [
      this.#send('commit', { text: begin }),
      this.run('write', sent, values),
      this.#send('commit', { text: 'commit' }),
    ] as const
    socket?.uncork()
    const [begun, written, ended] = await Promise.allSettled(answers)
    if (begun.status === 'rejected') {
      // Without BEGIN the statement has committed by itself, or nothing of all this has happened.
      this.#lease.broken = true
      throw new StoreError('unknown', 'BEGIN failed, or its reply was lost.', begun.reason)
    }
    // COMMIT was on its way before anything was known, so a connection that ended leaves the fate open.
    if (ended.status === 'rejected') throw ended.reason
    this.#open = false
    if (written.status === 'rejected') throw written.reason
    this.#checkCommit(ended.value)
    return written.value
  }

  async rollback(): Promise<void> {
    if (!this.#open || this.#lease.broken) return
    this.#open = false
    // Where the rollback itself fails the connection is destroyed, and the server rolls back.
    await this.#send('read', { text: 'rollback' }).catch(() => (this.#lease.broken = true))
  }

  async #send(phase: Phase, query: Parameters<PgClient['query']>[0]): Promise<PgResult> {
    const limit = this.#options.hangMs + this.#waitMs
    let timer: NodeJS.Timeout | undefined
    const hung = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new HungConnection(limit))
      }, limit)
    })
    const answer = this.#lease.client.query(query)
    try {
      return await Promise.race([answer, hung])
    } catch (error) {
      // The loser of the race rejects when the connection is destroyed; nobody waits for it any more.
      answer.catch(() => undefined)
      const classified = classifyError(error, phase)
      if (breaksConnection(error) || classified.failure === 'unknown') this.#lease.broken = true
      throw classified
    } finally {
      clearTimeout(timer)
    }
  }
}
