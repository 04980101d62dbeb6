/**
 * One leased connection: its settings, its one transaction, and its end.
 *
 * A connection that fails is rolled back or thrown away, one that hangs is thrown away, and a publisher's connection
 * goes back with the settings it came with.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
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
    await this.write(plain('set transaction isolation level read committed'), 'read')
    this.#state = 'open'
    await this.write(plain('start transaction'), 'read')
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
      const running = this.#connection.query({ ...READ_AS, sql, values: [...values] })
      // A destroyed mysql2 connection never settles its statements, so the race is what ends the wait.
      const answer = await Promise.race([running, this.#lost])
      return (answer as readonly unknown[])[0]
    } catch (error) {
      if (isLost(error)) this.destroy()
      throw classifyFailure(error, step)
    }
  }
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

interface Emitter {
  on(event: 'error', listener: () => void): unknown
}

/** The promise wrapper is new at each lease; the connection inside is not. */
function coreOf(connection: MysqlConnection): object {
  const inner = (connection as { connection?: unknown }).connection
  return typeof inner === 'object' && inner !== null ? inner : connection
}

function plain(sql: string): Statement {
  return { sql, values: [] }
}

function checkValue(value: unknown): void {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value) || Number.isSafeInteger(value))
    return
  throw new StoreError(
    'refused',
    `A value of type ${typeof value} reached a MySQL statement; nothing was done.`,
  )
}
