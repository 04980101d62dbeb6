/**
 * One leased connection: its settings, its one transaction, and its end.
 *
 * A connection that fails is rolled back or thrown away, one that hangs is thrown away, and a publisher's connection
 * goes back with the settings it came with.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import { coreOf, queryTogether, takesSeveral, type Emitter } from './packets.js'
import {
  READ_AS,
  type MysqlConnection,
  type MysqlPool,
  type Row,
  type SqlValue,
  type Statement,
} from './driver.js'
import { classifyFailure, connectionFailure, ConnectionGivenUp, isLost, type Step } from './errors.js'
import { RESTORED_SETTINGS, restoreSettings, SESSION_SETTINGS } from './session-settings.js'

/** Where connections come from. */
export interface SessionSource {
  readonly pool: MysqlPool
  /** Whether nobody else uses the pool, so that settings stay on a connection for its life. */
  readonly ours: boolean
  readonly prepared: WeakSet<object>
}

export interface SessionOptions {
  /** The connection is given up, and destroyed, when the work is not done by then. */
  readonly timeoutMs: number
  /** How long a lock may be waited for; null for the shortest that InnoDB knows, one second. */
  readonly waitMs?: number | null
}

/** How long a pool may take to give a connection. */
const ACQUIRE_MS = 2_000

const SERVER_STATUS_IN_TRANSACTION = 1

/** One connection while somebody works with it. */
export class Session {
  #connection: MysqlConnection
  #lost: Promise<never>
  #giveUp: (error: Error) => void = () => undefined
  #state: 'free' | 'open' | 'destroyed' = 'free'
  #inTransaction = false

  constructor(connection: MysqlConnection) {
    this.#connection = connection
    this.#lost = new Promise((_, reject) => {
      this.#giveUp = reject
    })
    this.#lost.catch(() => undefined)
  }

  get isDestroyed(): boolean {
    return this.#state === 'destroyed'
  }

  /** Runs a statement that returns rows. */
  async read({ sql, values }: Statement, step: Step = 'read'): Promise<readonly Row[]> {
    const rows = await this.#run(sql, values, step)
    return Array.isArray(rows) ? (rows as Row[]) : []
  }

  /** Runs a statement that changes something; resolves to the driver's count of rows. */
  async write(
    { sql, values }: Statement,
    step: Step = this.#state === 'open' ? 'write' : 'single',
  ): Promise<number> {
    const result = (await this.#run(sql, values, step)) as { affectedRows?: unknown; serverStatus?: unknown }
    if (typeof result.serverStatus === 'number') {
      this.#inTransaction = (result.serverStatus & SERVER_STATUS_IN_TRANSACTION) !== 0
    }
    return Number(result.affectedRows ?? 0)
  }

  /** READ COMMITTED, because InnoDB's default takes gap locks and keeps an old snapshot after a wait. */
  async begin(): Promise<void> {
    await this.write(READ_COMMITTED, 'read')
    this.#state = 'open'
    await this.write(START, 'read')
  }

  /** Begins, and locks wallets at once: resolves to their rows. */
  async beginWith(lock: Statement): Promise<readonly Row[]> {
    if (!takesSeveral(this.#connection)) {
      await this.begin()
      return this.read(lock, 'wallets')
    }
    this.#state = 'open'
    const parts = [READ_COMMITTED, START, lock].map((part) => ({ ...part, step: 'wallets' as const }))
    const [, started, rows] = await this.#runTogether(parts)
    this.#inTransaction = isInTransaction(started)
    return Array.isArray(rows) ? (rows as Row[]) : []
  }

  /** One snapshot for several reads, so that an audit never compares two moments. */
  async beginSnapshot(): Promise<void> {
    await this.write(plain('set transaction isolation level repeatable read'), 'read')
    this.#state = 'open'
    await this.write(plain('start transaction with consistent snapshot, read only'), 'read')
  }

  /**
   * Commits, and throws `unknown` on whatever goes wrong from the moment COMMIT is sent. A transaction that somebody
   * between us and the server has ended already (DDL in a trigger, a proxy) must not pass as committed by COMMIT's OK.
   */
  async commit(): Promise<void> {
    if (!this.#inTransaction) {
      this.destroy()
      throw new StoreError('unknown', 'The transaction was ended by something else before its COMMIT.')
    }
    try {
      await this.write(plain('commit'), 'commit')
    } catch (error) {
      this.destroy()
      throw error
    }
    this.#state = 'free'
  }

  /**
   * Writes everything and commits. Where the connection takes several statements at once they go in one packet, of which
   * the server leaves out what stands behind the first failure: COMMIT is reached only by a whole group.
   */
  async writeAndCommit(parts: readonly Part[]): Promise<void> {
    if (parts.length === 0 || !takesSeveral(this.#connection)) {
      for (const part of parts) await this.write(part, part.step)
      await this.commit()
      return
    }
    const answers = await this.#runTogether([...parts, { ...COMMIT, step: 'commit' }])
    if (answers.length !== parts.length + 1 || !isInTransaction(answers.at(-2))) {
      this.destroy()
      throw new StoreError('unknown', 'The transaction was ended by something else before its COMMIT.')
    }
    this.#state = 'free'
  }

  async rollback(): Promise<void> {
    if (this.#state !== 'open') return
    try {
      await this.write(plain('rollback'), 'read')
      this.#state = 'free'
    } catch {
      this.destroy()
    }
  }

  /** Cuts the connection; the server rolls back whatever is open. Statements in flight fail at once. */
  destroy(): void {
    if (this.#state === 'destroyed') return
    this.#state = 'destroyed'
    this.#giveUp(new ConnectionGivenUp('The connection was given up.'))
    this.#connection.destroy()
  }

  async #run(sql: string, values: readonly SqlValue[], step: Step): Promise<unknown> {
    for (const value of values) checkValue(value)
    if (this.isDestroyed) throw classifyFailure(new ConnectionGivenUp('The connection was given up.'), step)
    try {
      // Without values the driver does not look for their places, of which a raw call's URL may seem to have some.
      const given = values.length === 0 ? null : [...values]
      const running = this.#connection.query({ ...READ_AS, sql, values: given })
      // A destroyed mysql2 connection never settles its statements, so the race is what ends the wait.
      const answer = await Promise.race([running, this.#lost])
      return (answer as readonly unknown[])[0]
    } catch (error) {
      if (isLost(error)) this.destroy()
      throw classifyFailure(error, step)
    }
  }

  /** Sends statements without values in one packet; resolves to the answer of each. */
  async #runTogether(parts: readonly Part[]): Promise<readonly unknown[]> {
    const last = parts.at(-1)?.step ?? 'read'
    if (this.isDestroyed) throw classifyFailure(new ConnectionGivenUp('The connection was given up.'), 'read')
    let answered = 0
    try {
      const running = queryTogether(this.#connection, parts.map(({ sql }) => sql).join(';\n'), () => {
        answered += 1
      })
      return await Promise.race([running, this.#lost])
    } catch (error) {
      // A connection that ended does not tell how far the server came.
      const step = isLost(error) ? last : (parts[answered]?.step ?? last)
      if (isLost(error) || step === 'commit') this.destroy()
      throw classifyFailure(error, step)
    }
  }
}

/** A statement of a packet, and where the group stands with it. */
export interface Part extends Statement {
  readonly step: Step
}

/**
 * Leases a connection for one piece of work.
 *
 * @throws StoreError `away` where the pool gives none within two seconds; what `work` throws, after a rollback
 */
export async function withSession<T>(
  source: SessionSource,
  { timeoutMs, waitMs = null }: SessionOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const connection = await acquire(source.pool)
  const session = new Session(connection)
  const timer = setTimeout(() => {
    session.destroy()
  }, timeoutMs)
  let giveBack: Statement | null = null
  try {
    giveBack = await prepare(source, connection, session, waitMs)
    return await work(session)
  } catch (error) {
    // A read-only or full server may be a demoted one: its connections must not be used again.
    if (error instanceof StoreError && error.failure === 'away') session.destroy()
    throw error
  } finally {
    await session.rollback()
    if (!session.isDestroyed && giveBack !== null) {
      await session.write(giveBack, 'read').catch(() => {
        session.destroy()
      })
    }
    clearTimeout(timer)
    if (!session.isDestroyed) connection.release()
  }
}

async function acquire(pool: MysqlPool): Promise<MysqlConnection> {
  const pending = pool.getConnection()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ACQUIRE_MS, null)
  })
  try {
    const connection = await Promise.race([pending, late])
    if (connection !== null) return connection
  } catch (error) {
    throw connectionFailure(error)
  } finally {
    clearTimeout(timer)
  }
  // The pool still owes us one: it goes straight back when it comes.
  pending.then(
    (connection) => {
      connection.release()
    },
    () => undefined,
  )
  throw connectionFailure(new Error(`the pool gave none within ${ACQUIRE_MS} ms.`))
}

/** Puts our settings on the connection; resolves to the statement that must be run before it goes back, if any. */
async function prepare(
  source: SessionSource,
  connection: MysqlConnection,
  session: Session,
  waitMs: number | null,
): Promise<Statement | null> {
  const core = coreOf(connection)
  if (!source.prepared.has(core)) {
    // The pool listens once; a second error of a connection that is being thrown away would end the process.
    if ('on' in core) (core as Emitter).on('error', () => undefined)
    if (source.ours) await session.write(plain(SESSION_SETTINGS), 'read')
    source.prepared.add(core)
  }
  const waitSeconds = waitMs === null ? 1 : Math.max(1, Math.ceil(waitMs / 1000))
  if (!source.ours) {
    const [before] = await session.read(plain(RESTORED_SETTINGS))
    await session.write(plain(SESSION_SETTINGS), 'read')
    if (waitMs !== null) await session.write(lockWait(waitSeconds), 'read')
    return restoreSettings(before ?? {})
  }
  if (waitMs === null) return null
  await session.write(lockWait(waitSeconds), 'read')
  return lockWait(1)
}

function lockWait(seconds: number): Statement {
  return plain(`set session innodb_lock_wait_timeout = ${seconds}`)
}

function isInTransaction(answer: unknown): boolean {
  const status = (answer as { readonly serverStatus?: unknown } | undefined)?.serverStatus
  return typeof status === 'number' && (status & SERVER_STATUS_IN_TRANSACTION) !== 0
}

function plain(sql: string): Statement {
  return { sql, values: [] }
}

const READ_COMMITTED = plain('set transaction isolation level read committed')
const START = plain('start transaction')
const COMMIT = plain('commit')

function checkValue(value: unknown): void {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value) || Number.isSafeInteger(value))
    return
  throw new StoreError(
    'refused',
    `A value of type ${typeof value} reached a MySQL statement; nothing was done.`,
  )
}
