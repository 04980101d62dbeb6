/**
 * Statements that are sent together and answered together: one Sync behind all of them (PostgreSQL manual, section 55.2.4
 * "Pipelining"). The server writes its answers once instead of after each statement, and skips what follows a failure, so
 * that a COMMIT at the end is reached only if everything before it succeeded.
 *
 * @module
 */
import type { PgConnection } from './driver.js'
import type { Phase } from './errors.js'

export interface BatchStatement {
  readonly text: string
  readonly values: readonly (string | null)[]
  /** Of a prepared statement that the connection knows already; else the text is parsed for this one use. */
  readonly name: string | null
}

/** A query as `pg` takes it beside its own: it calls these methods while the answers come in. */
export class Batch {
  /** Resolves to the last statement's command tag. */
  readonly done: Promise<string>
  readonly #statements: readonly BatchStatement[]
  #resolve!: (tag: string) => void
  #reject!: (error: unknown) => void
  #tag = ''
  #completed = 0
  #isServerError = false

  constructor(statements: readonly BatchStatement[]) {
    this.#statements = statements
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  submit(connection: PgConnection): void {
    // One packet: each one by itself would wake the server.
    connection.stream.cork()
    for (const { text, values, name } of this.#statements) {
      if (name === null) connection.parse({ text, name: '', types: [] }, true)
      connection.bind({ statement: name ?? '', values: [...values] }, true)
      connection.execute({}, true)
    }
    connection.sync()
    connection.stream.uncork()
  }

  /**
   * Where a failure struck: the server's own error names a statement before COMMIT, and COMMIT was skipped. Of everything
   * else nobody knows whether COMMIT was reached, because it was on its way with the rest.
   */
  get phase(): Phase {
    return this.#isServerError && this.#completed < this.#statements.length - 1 ? 'write' : 'commit'
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#tag = text
    this.#completed += 1
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#tag)
  }

  handleError(error: Error & { readonly severity?: unknown }): void {
    // Only the server's errors carry a severity.
    this.#isServerError = error.severity !== undefined
    this.#reject(error)
  }

  /** What the statements return is of no use to anybody. */
  handleDataRow(): void {
    return
  }
}

/** Makes a connection know statements by their names. */
export class Preparation extends Batch {
  readonly #known: readonly { readonly text: string; readonly name: string }[]

  constructor(known: readonly { readonly text: string; readonly name: string }[]) {
    super([])
    this.#known = known
  }

  override get phase(): Phase {
    return 'read'
  }

  override submit(connection: PgConnection): void {
    for (const { text, name } of this.#known) connection.parse({ text, name, types: [] }, true)
    connection.sync()
  }
}
