/**
 * One dialect with one database, one receiver on it, and what a case does with them.
 *
 * @module
 */
import { expect, vi } from 'vitest'
import { startServer, type RunningServer } from '../../src/server/server.js'
import { DEFAULT_SETTINGS, type Settings } from '../../src/server/settings.js'
import type { Database, DialectServer } from '../dialects/index.js'
import type { Call } from './calls.js'
import { exchange, type Reply } from './exchange.js'
import { NETWORKS } from './networks.js'
import { openRows, type Row, type Rows } from './rows.js'
import { startProcess, type ServerProcess } from './start-process.js'

const TOKEN = 'token-of-the-cases'
/** Rows that belong to no ledger transaction are written a moment after the answer. */
const WAIT = { timeout: 5_000, interval: 25 }

export interface SendOptions {
  /** Another receiver on the same database. */
  readonly to?: string
  /** Allows an answer that makes the network send again. */
  readonly may5xx?: boolean
}

/** What the admin API says of an inbox row, an entry or a wallet; each has only its own part. */
export interface Item {
  readonly id: string
  readonly outcome: string
  readonly reason: string | null
  readonly entry: string
  readonly transactionId: string | null
  readonly user: string | null
  readonly amount: string
  readonly balance: string
  readonly balanceAfter: string
  readonly receivedAmount: string | null
  readonly unit: string
  readonly offer: string | null
  readonly open: boolean
  readonly url: string
}

export interface ApiJson extends Item {
  readonly items: readonly Item[]
  readonly entries: readonly Item[]
  readonly postbacks: readonly Item[]
  readonly explanation: string
  readonly counts: Readonly<Record<string, number>>
  readonly error: { readonly code: string }
  readonly state: string
  readonly findings: readonly unknown[]
}

export class Bench {
  /** Calls that a receiver took; each must be in the inbox. */
  taken = 0
  /** Warnings and errors of the receivers in this process. */
  readonly log: string[] = []
  #process: Promise<ServerProcess> | null = null
  readonly #undo: (() => Promise<void>)[] = []

  private constructor(
    readonly dialect: DialectServer,
    readonly name: string,
    readonly settings: Partial<Settings>,
    readonly database: Database,
    readonly rows: Rows,
  ) {}

  server: RunningServer = null as unknown as RunningServer

  /** @param prepare makes tables before the receiver looks for them */
  static async open(
    dialect: DialectServer,
    name: string,
    changes: Partial<Settings> = {},
    prepare: (rows: Rows) => Promise<void> = async () => undefined,
  ): Promise<Bench> {
    const database = await dialect.newDatabase()
    const rows = await openRows(database.url)
    await prepare(rows)
    const settings = {
      database: database.url,
      port: 0,
      adminToken: TOKEN,
      outbox: true,
      networks: NETWORKS,
      ...changes,
    }
    const bench = new Bench(dialect, name, settings, database, rows)
    bench.server = await bench.serve()
    return bench
  }

  /** A further database with a receiver of its own settings, closed with this one. */
  async fresh(changes: Partial<Settings>, prepare?: (rows: Rows) => Promise<void>): Promise<Bench> {
    const bench = await Bench.open(this.dialect, this.name, changes, prepare)
    this.#undo.push(() => bench.close())
    return bench
  }

  /** A further receiver in this process, on this database. */
  async serve(changes: Partial<Settings> = {}): Promise<RunningServer> {
    const note = (facts: object, message: string): void => {
      this.log.push(`${message} ${JSON.stringify(facts)}`)
    }
    const settings = { ...DEFAULT_SETTINGS, ...this.settings, ...changes }
    const logger = { debug: () => undefined, info: () => undefined, warn: note, error: note }
    const server = await startServer(settings, { logger })
    this.#undo.push(() => server.close({ delaySeconds: 0 }))
    return server
  }

  /** The second receiver on this database, in a process of its own. */
  async secondUrl(): Promise<string> {
    this.#process ??= startProcess({ ...this.settings, logLevel: 'error' })
    return (await this.#process).url
  }

  /** Sends one call: answered in time and, unless the case allows it, not by 5xx. */
  async send(call: Call, { to = this.server.url, may5xx = false }: SendOptions = {}): Promise<Reply> {
    this.taken += 1
    const reply = await exchange(to, call)
    if (!may5xx) expect(reply.status, `${call.target} → ${reply.body}`).toBeLessThan(500)
    return reply
  }

  /** Sends all calls at the same instant. */
  par(calls: readonly Call[], options: SendOptions = {}): Promise<Reply[]> {
    return Promise.all(calls.map((call) => this.send(call, options)))
  }

  async api(method: string, path: string, body?: unknown): Promise<{ status: number; json: ApiJson }> {
    const response = await fetch(`${this.server.adminUrl}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, json: (await response.json()) as ApiJson }
  }

  async addUsers(...users: readonly string[]): Promise<void> {
    for (const user of users) {
      expect((await this.api('PUT', `/wallets/${encodeURIComponent(user)}`)).status).toBe(201)
    }
  }

  async balance(user: string): Promise<string> {
    return (await this.api('GET', `/wallets/${encodeURIComponent(user)}`)).json.balance
  }

  /** The entries of a user, oldest first. */
  async entries(user: string): Promise<Item[]> {
    const { json } = await this.api('GET', `/wallets/${encodeURIComponent(user)}/entries?limit=500`)
    return [...json.items].reverse()
  }

  /** The inbox rows of a filter, oldest first; waits for `count` of them, because refused calls are written apart. */
  async inbox(filter: Readonly<Record<string, string>>, count: number): Promise<Item[]> {
    const query = new URLSearchParams({ limit: '500', ...filter }).toString()
    return vi.waitFor(async () => {
      const { json } = await this.api('GET', `/postbacks?${query}`)
      expect(json.items.length, `inbox rows of ${query}`).toBe(count)
      return [...json.items].reverse()
    }, WAIT)
  }

  /** What became of the calls about one transaction, oldest first. */
  async outcomes(transactionId: string, count: number): Promise<string[]> {
    return (await this.inbox({ transactionId }, count)).map(({ outcome }) => outcome)
  }

  query(sql: string): Promise<Row[]> {
    return this.rows.query(sql)
  }

  async close(): Promise<void> {
    await (await this.#process)?.stop()
    for (const step of this.#undo.reverse()) await step()
    await this.rows.close()
    await this.database.close()
  }
}
