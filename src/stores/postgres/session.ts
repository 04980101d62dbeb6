/**
 * One connection for one operation: every failure classified, no connection of doubtful state given back.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { StoreError } from '../../errors.js'
import { Batch, Preparation, type BatchStatement } from './batch.js'
import { AS_TEXT, type PgPool, type PgQuery, type PgResult, type TextRow } from './driver.js'
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

/** It answers the tag COMMIT, or ROLLBACK after a failure. */
const COMMIT: BatchStatement = { ...statement('commit'), values: [] }

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
    const { command } = await this.#send('commit', { text: 'commit' })
    this.#open = false
    this.#checkCommit(command)
  }

  #checkCommit(command: string): void {
    if (command !== 'COMMIT') throw new StoreError('retry', `COMMIT was answered by ${command}.`)
    if (this.#lease.warnings.length > 0) {
      throw new StoreError('unknown', 'COMMIT was cut short before the synchronous standby confirmed it.')
    }
  }

  /**
   * A whole transaction of which nothing is read: sent together and answered together where the driver can do that, else
   * one statement after the other. `opening` begins it.
   */
  async transact(opening: readonly BatchStatement[], waitMs: number, write: BatchStatement): Promise<void> {
    this.#waitMs = waitMs
    this.#open = true
    this.#lease.warnings.length = 0
    const statements = [...opening, write, COMMIT]
    const { connection } = this.#lease.client
    if (connection === undefined) {
      for (const { text, values } of [...opening, write]) await this.runOnce('write', text, [...values])
      await this.commit()
      return
    }
    if (!this.#options.pooler) await this.#prepare(statements)
    const sent = this.#options.pooler ? statements.map((each) => ({ ...each, name: null })) : statements
    // COMMIT is on its way before anything is known, so a connection that ends leaves the fate open.
    try {
      const tag = await this.#run(new Batch(sent))
      this.#open = false
      this.#checkCommit(tag)
    } catch (error) {
      // COMMIT was skipped with whatever followed the failure, and the transaction still stands there failed.
      await this.rollback()
      throw error
    }
  }

  /** What a connection is told of once, under names that no other query uses. */
  async #prepare(statements: readonly BatchStatement[]): Promise<void> {
    const { prepared } = this.#lease
    const fresh = statements.filter(({ name }) => name !== null && !prepared.has(name)) as Statement[]
    if (fresh.length === 0) return
    await this.#run(new Preparation(fresh))
    for (const { name } of fresh) prepared.add(name)
  }

  async rollback(): Promise<void> {
    if (!this.#open || this.#lease.broken) return
    this.#open = false
    // Where the rollback itself fails the connection is destroyed, and the server rolls back.
    await this.#send('read', { text: 'rollback' }).catch(() => (this.#lease.broken = true))
  }

  #send(phase: Phase, query: PgQuery): Promise<PgResult> {
    return this.#bounded(
      () => this.#lease.client.query(query),
      () => phase,
    )
  }

  #run(batch: Batch): Promise<string> {
    return this.#bounded(
      () => {
        this.#lease.client.query(batch)
        return batch.done
      },
      () => batch.phase,
    )
  }

  /** What is not answered in time is given up, and every failure is classified by where it struck. */
  async #bounded<T>(ask: () => Promise<T>, phase: () => Phase): Promise<T> {
    const limit = this.#options.hangMs + this.#waitMs
    let timer: NodeJS.Timeout | undefined
    const hung = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new HungConnection(limit))
      }, limit)
    })
    const answer = ask()
    try {
      return await Promise.race([answer, hung])
    } catch (error) {
      // The loser of the race rejects when the connection is destroyed; nobody waits for it any more.
      answer.catch(() => undefined)
      const classified = classifyError(error, phase())
      if (breaksConnection(error) || classified.failure === 'unknown') this.#lease.broken = true
      throw classified
    } finally {
      clearTimeout(timer)
    }
  }
}
