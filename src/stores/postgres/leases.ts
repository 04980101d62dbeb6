/**
 * Connections on loan from the app's pool.
 *
 * @module
 */
import type { PgClient, PgMessage, PgPool } from './driver.js'
import { classifyError } from './errors.js'

export interface LeaseOptions {
  readonly pool: PgPool
  /** How long to wait for a connection. */
  readonly connectMs: number
}

export interface Leases {
  /** A connection that was given back in this turn of the event loop, if there is one. */
  kept(): Lease | undefined
  take(): Promise<Lease>
  giveBack(lease: Lease): void
}

/**
 * A connection goes back to the pool at the end of the turn of the event loop in which it was given back: the next group
 * of the same lane follows at once, and would wait for the pool until all answers of the last one are written.
 */
export function createLeases(options: LeaseOptions): Leases {
  // A server that dies right after it accepted a connection sends the news in one packet with its greeting, before the
  // promise of connect() has told anybody: without a listener from the first moment that would end the process.
  options.pool.on?.('connect', (client) => client.on('error', () => undefined))
  const idle: Lease[] = []
  return {
    kept() {
      const lease = idle.pop()
      if (lease?.broken !== true) return lease
      lease.release()
      return undefined
    },
    async take() {
      return new Lease(await takeClient(options))
    },
    giveBack(lease) {
      if (lease.broken) {
        lease.release()
        return
      }
      idle.push(lease)
      setImmediate(() => {
        const place = idle.indexOf(lease)
        if (place >= 0) idle.splice(place, 1)[0]?.release()
      })
    },
  }
}

/** A connection knows its statements for as long as it lives, through many loans. */
function preparedOf(client: PgClient): Set<string> {
  const prepared = PREPARED.get(client) ?? new Set<string>()
  PREPARED.set(client, prepared)
  return prepared
}

const PREPARED = new WeakMap<PgClient, Set<string>>()

/** In the DETAIL of the WARNING that PostgreSQL sends where the wait of COMMIT for a standby was cut short. */
const NOT_REPLICATED = /might not have been replicated/

/** One connection, and what it reported while it was ours. */
export class Lease {
  readonly client: PgClient
  /** Destroyed when it is given back, because its state is in doubt. */
  broken = false
  /** What the server said about COMMITs that did not wait for their standby. */
  readonly warnings: string[] = []
  /** Names of the statements that it knows. */
  readonly prepared: Set<string>

  constructor(client: PgClient) {
    this.client = client
    this.prepared = preparedOf(client)
    client.on('error', this.#onError)
    client.on('notice', this.#onNotice)
  }

  release(): void {
    this.client.removeListener('notice', this.#onNotice)
    this.client.release(this.broken)
    // The listener for errors stays on a destroyed connection: its socket may still report one.
    if (!this.broken) this.client.removeListener('error', this.#onError)
  }

  readonly #onError = (): void => {
    this.broken = true
  }

  readonly #onNotice = ({ message = '', detail = '', routine = '' }: PgMessage): void => {
    const cutShort = routine === 'SyncRepWaitForLSN' || NOT_REPLICATED.test(`${message} ${detail}`)
    if (cutShort) this.warnings.push(message)
  }
}

/** Takes a client, but waits for the pool no longer than `connectMs`: the app's pool may wait for ever. */
async function takeClient({ pool, connectMs }: LeaseOptions): Promise<PgClient> {
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
