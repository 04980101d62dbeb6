/**
 * What this store needs of `pg`, by structure, so that the app's own pool fits without an import of the driver.
 *
 * @module
 */

import type { Writable } from 'node:stream'

/** A query as `pg` takes it. */
export interface PgQuery {
  readonly text: string
  readonly values?: unknown[]
  /** Makes it a named (prepared) statement of the connection. */
  readonly name?: string
  readonly types?: { getTypeParser(): (text: string) => string }
}

export interface PgResult {
  readonly command: string
  readonly rows: unknown[]
  readonly rowCount: number | null
}

/** What the server reports beside its answers. */
export interface PgMessage {
  readonly message?: string | undefined
  readonly detail?: string | undefined
  /** The function in the server's source: unlike the texts it is never translated. */
  readonly routine?: string | undefined
}

/** What `pg` lets a query of one's own write. */
export interface PgConnection {
  readonly stream: Pick<Writable, 'cork' | 'uncork'>
  /** `more`: old versions kept a message back until the last one of a batch. */
  parse(message: { text: string; name: string; types: string[] }, more: boolean): void
  bind(message: { statement: string; values: (string | null)[] }, more: boolean): void
  execute(message: object, more: boolean): void
  sync(): void
}

export interface PgSubmittable {
  submit(connection: PgConnection): void
}

/** A client that was taken from a pool. */
export interface PgClient {
  /** Shown by `pg` itself, for queries that write their own messages. */
  readonly connection?: PgConnection
  query(query: PgQuery): Promise<PgResult>
  /** A query that writes its own messages; `pg` gives it back. */
  query(query: PgSubmittable): unknown
  release(destroy?: Error | boolean): void
  on(event: 'error' | 'notice', listener: (message: PgMessage) => void): unknown
  removeListener(event: 'error' | 'notice', listener: (message: PgMessage) => void): unknown
}

/** A pool: `pg.Pool`, or anything that behaves as one. */
export interface PgPool {
  connect(): Promise<PgClient>
  end?(): Promise<void>
  on?(event: 'connect', listener: (client: Pick<PgClient, 'on'>) => void): unknown
}

/**
 * The app may have changed the driver's parsers for the whole process (`numeric` to a number, for one), so that this
 * store reads every value as the text that the server sent.
 */
export const AS_TEXT = Object.freeze({ getTypeParser: () => (text: string) => text })

/** A row as the server sent it. */
export type TextRow = Readonly<Record<string, string | null>>
