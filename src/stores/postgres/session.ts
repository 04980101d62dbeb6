/**
 * One connection for one operation: every failure classified, no connection of doubtful state given back.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { StoreError } from '../../errors.js'
import { AS_TEXT, type PgClient, type PgMessage, type PgPool, type PgResult, type TextRow } from './driver.js'
import { breaksConnection, classifyError, HungConnection, type Phase } from './errors.js'

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
  // A server that dies right after it accepted a connection sends the news in one packet with its greeting, before the
  // promise of connect() has told anybody: without a listener from the first moment that would end the process.
  options.pool.on?.('connect', (client) => client.on('error', () => undefined))
  return async (work) => {
    const session = new Session(await takeClient(options), options)
    try {
      return await work(session)
    } finally {
      await session.giveBack()
    }
  }
}

/** In the DETAIL of the WARNING that PostgreSQL sends where the wait of COMMIT for a standby was cut short. */
const NOT_REPLICATED = /might not have been replicated/

export class Session {
  readonly #client: PgClient
  readonly #options: SessionOptions
  #broken = false
  #open = false
  #waitMs = 0
  readonly #warnings: string[] = []

  constructor(client: PgClient, options: SessionOptions) {
    this.#client = client
    this.#options = options
    client.on('error', this.#onError)
    client.on('notice', this.#onNotice)
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
    this.#warnings.length = 0
    const { command } = await this.#send('commit', { text: 'commit' })
    this.#open = false
    if (command !== 'COMMIT') throw new StoreError('retry', `COMMIT was answered by ${command}.`)
    if (this.#warnings.length > 0) {
      throw new StoreError('unknown', 'COMMIT was cut short before the synchronous standby confirmed it.')
    }
  }

  async rollback(): Promise<void> {
    if (!this.#open || this.#broken) return
    this.#open = false
    // Where the rollback itself fails the connection is destroyed, and the server rolls back.
    await this.#send('read', { text: 'rollback' }).catch(() => (this.#broken = true))
  }

  /** Rolls back what is still open and gives the connection back, or destroys it. */
  async giveBack(): Promise<void> {
    await this.rollback()
    this.#client.removeListener('notice', this.#onNotice)
    this.#client.release(this.#broken)
    // The listener for errors stays on a destroyed connection: its socket may still report one.
    if (!this.#broken) this.#client.removeListener('error', this.#onError)
  }

  async #send(phase: Phase, query: Parameters<PgClient['query']>[0]): Promise<PgResult> {
    const limit = this.#options.hangMs + this.#waitMs
    let timer: NodeJS.Timeout | undefined
    const hung = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new HungConnection(limit))
      }, limit)
    })
    const answer = this.#client.query(query)
    try {
      return await Promise.race([answer, hung])
    } catch (error) {
      // The loser of the race rejects when the connection is destroyed; nobody waits for it any more.
      answer.catch(() => undefined)
      const classified = classifyError(error, phase)
      if (breaksConnection(error) || classified.failure === 'unknown') this.#broken = true
      throw classified
    } finally {
      clearTimeout(timer)
    }
  }

  readonly #onError = (): void => {
    this.#broken = true
  }

  readonly #onNotice = ({ message = '', detail = '', routine = '' }: PgMessage): void => {
    const cutShort = routine === 'SyncRepWaitForLSN' || NOT_REPLICATED.test(`${message} ${detail}`)
    if (cutShort) this.#warnings.push(message)
  }
}

/** Takes a client, but waits for the pool no longer than `connectMs`: the app's pool may wait for ever. */
async function takeClient({ pool, connectMs }: SessionOptions): Promise<PgClient> {
  let timer: NodeJS.Timeout | undefined
  let late = false
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late = true
      reject(new Error(`no connection within ${connectMs} ms`))
    }, connectMs)
  })
  const taken = pool.connect()
  taken.then(
    (client) => {
      if (late) client.release()
    },
    () => undefined,
  )
  try {
    return await Promise.race([taken, tooLate])
  } catch (error) {
    throw classifyError(error, 'connect')
  } finally {
    clearTimeout(timer)
  }
}
