/**
 * Several statements in one packet, which the driver's promises know nothing of: they tell that a packet failed, and not
 * which of its statements did.
 *
 * @module
 */
import { READ_AS, type MysqlConnection } from './driver.js'

export interface Emitter {
  on(event: string, listener: () => void): unknown
}

/** The part of mysql2's callback connection that is used. */
interface Core {
  readonly config?: { readonly multipleStatements?: unknown }
  query?(
    options: Readonly<Record<string, unknown>>,
    done: (error: Error | null, answers: unknown) => void,
  ): Emitter
}

/** The promise wrapper is new at each lease; the connection inside is not. */
export function coreOf(connection: MysqlConnection): object {
  const inner = (connection as { connection?: unknown }).connection
  return typeof inner === 'object' && inner !== null ? inner : connection
}

/** Whether the connection was opened with `multipleStatements`, as our own are. */
export function takesSeveral(connection: MysqlConnection): boolean {
  const core = coreOf(connection) as Core
  return core.config?.multipleStatements === true && typeof core.query === 'function'
}

/**
 * Resolves to the answer of each statement.
 *
 * @param sql at least two statements, without values
 * @param onAnswer told of each statement that the server has begun to answer
 */
export async function queryTogether(
  connection: MysqlConnection,
  sql: string,
  onAnswer: () => void,
): Promise<readonly unknown[]> {
  const core = coreOf(connection) as Core
  return new Promise((resolve, reject) => {
    const query = core.query?.({ ...READ_AS, sql, values: null }, (error, answers) => {
      if (error === null) resolve(Array.isArray(answers) ? answers : [answers])
      else reject(error)
    })
    query?.on('fields', onAnswer)
  })
}
