/**
 * What the promise rests on, looked up in the database and never assumed.
 *
 * A file on a network file system cannot be told apart from a local one: WAL needs shared memory, so every process that
 * opens the file has to run on the machine that holds it (sqlite.org/wal.html, "All processes using a database must be
 * on the same host computer").
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import type { StoreFinding } from '../../ledger/store.js'
import type { SqliteContext } from './context.js'
import type { SqlConnection } from './connection.js'
import { readPending } from './migrator.js'
import { checkWalletTable, WALLET_CHECK } from './wallet-checks.js'

type Severity = StoreFinding['severity']

/** STRICT tables came with this version. */
const OLDEST = [3, 37, 0] as const

/** Everything that can be looked at before there is a schema. */
export function verifyDatabase({ connection }: SqliteContext): StoreFinding[] {
  return [
    checkVersion(connection),
    checkEncoding(connection),
    checkJournal(connection),
    checkSync(connection),
  ]
}

/** The schema and the wallets. */
export async function verifySchema(context: SqliteContext): Promise<StoreFinding[]> {
  const schema = checkSchema(context)
  if (schema.some((one) => one.severity === 'refuse')) return schema
  return [...schema, ...(context.foreign === null ? [] : await checkWalletTable(context, context.foreign))]
}

/** @throws PaidonceError for the first finding that stops the start. */
export function refuseFirst(findings: readonly StoreFinding[]): void {
  const first = findings.find((one) => one.severity === 'refuse')
  if (first === undefined) return
  const code = first.check === WALLET_CHECK ? 'wallet_table_refused' : 'database_refused'
  throw new PaidonceError(code, first.message, first.cure === null ? {} : { hint: first.cure })
}

function checkVersion(connection: SqlConnection): StoreFinding {
  const version = read(connection, 'select sqlite_version() as value')
  const parts = version.split('.').map(Number)
  const message = `SQLite ${version} by ${connection.driver}.`
  const cure = 'Update better-sqlite3, or Node, which brings node:sqlite.'
  if (isOlder(parts, OLDEST))
    return finding('sqlite_version', 'refuse', `${message} It has no STRICT tables.`, cure)
  return hasWalResetFix(parts)
    ? finding('sqlite_version', 'ok', message)
    : finding(
        'sqlite_version',
        'warn',
        `${message} It may corrupt a WAL file that is reset while it is written (sqlite.org/wal.html#walresetbug).`,
        cure,
      )
}

/** Fixed in 3.51.3, and in 3.50.7 and 3.44.6 of the older branches. */
export function hasWalResetFix([major = 0, minor = 0, patch = 0]: readonly number[]): boolean {
  if (major !== 3) return major > 3
  if (minor === 50) return patch >= 7
  if (minor === 44) return patch >= 6
  return minor > 51 || (minor === 51 && patch >= 3)
}

function checkEncoding(connection: SqlConnection): StoreFinding {
  const encoding = read(connection, 'select encoding as value from pragma_encoding')
  return encoding === 'UTF-8'
    ? finding('encoding', 'ok', 'Text is UTF-8.')
    : finding(
        'encoding',
        'refuse',
        `Text is ${encoding}, in which ids do not sort by their bytes.`,
        'Give Paidonce a file of its own; the encoding of a file cannot be changed.',
      )
}

function checkJournal(connection: SqlConnection): StoreFinding {
  const mode = read(connection, 'select journal_mode as value from pragma_journal_mode')
  if (connection.file === null) {
    return finding(
      'journal_mode',
      'warn',
      'The database is in memory: nothing of it survives the process.',
      'Give a file.',
    )
  }
  return mode === 'wal'
    ? finding('journal_mode', 'ok', 'journal_mode is wal.')
    : finding(
        'journal_mode',
        'warn',
        `journal_mode is ${mode}: a long read makes every postback wait.`,
        'pragma journal_mode = wal;',
      )
}

function checkSync(connection: SqlConnection): StoreFinding {
  const level = read(connection, 'select synchronous as value from pragma_synchronous')
  if (connection.file === null || level === '2' || level === '3') {
    return finding('synchronous', 'ok', `synchronous is ${level === '3' ? 'EXTRA' : 'FULL'}.`)
  }
  return finding(
    'synchronous',
    'refuse',
    `synchronous is ${level}: a power loss would take back what was answered with 200.`,
    'pragma synchronous = full;',
  )
}

function checkSchema(context: SqliteContext): StoreFinding[] {
  try {
    const pending = readPending(context)
    if (pending.length > 0 && context.migrate !== 'off') {
      const list = pending.map(({ number }) => number).join(', ')
      return [finding('schema', 'refuse', `The schema lacks the migrations ${list}.`, 'paidonce migrate')]
    }
  } catch (error) {
    if (!(error instanceof PaidonceError)) throw error
    return [finding('schema', 'refuse', error.message, error.hint ?? null)]
  }
  const tables = checkTables(context)
  return tables.severity === 'refuse' ? [tables] : [tables, checkKey(context), checkScale(context)]
}

function checkTables({ connection, names }: SqliteContext): StoreFinding {
  const rows = connection.prepare("select name, strict from pragma_table_list where schema = 'main'").all()
  const strict = new Map(rows.map((row) => [String(row['name']).toLowerCase(), row['strict']]))
  const tables = ['ledger', 'wallets', 'postbacks', 'outbox', 'settings'].map((name) => names.prefix + name)
  const odd = tables.filter((name) => strict.get(name.toLowerCase()) !== 1n)
  return odd.length === 0
    ? finding('tables', 'ok', 'Every table of ours is STRICT.')
    : finding(
        'tables',
        'refuse',
        `These tables are missing or not STRICT: ${odd.join(', ')}.`,
        'Rename them, then run "paidonce migrate".',
      )
}

/** The key that every promise rests on: valid, whole and by bytes. */
function checkKey({ connection, names }: SqliteContext): StoreFinding {
  const rows = connection
    .prepare(
      `select l.name as name, x.name as "column", x.coll as coll from pragma_index_list(?) l, pragma_index_xinfo(l.name) x
where l."unique" = 1 and l.partial = 0 and x.key = 1 order by l.seq, x.seqno`,
    )
    .all(`${names.prefix}ledger`)
  const indexes = new Map<string, string[]>()
  for (const row of rows) {
    const name = String(row['name'])
    indexes.set(name, [...(indexes.get(name) ?? []), `${String(row['column'])} ${String(row['coll'])}`])
  }
  const wanted = 'id_space BINARY, transaction_key BINARY, entry BINARY'
  return [...indexes.values()].some((columns) => columns.join(', ') === wanted)
    ? finding('ledger_key', 'ok', 'The idempotency key is unique, by bytes.')
    : finding(
        'ledger_key',
        'refuse',
        'The ledger has no unique key over (id_space, transaction_key, entry) that compares bytes.',
        `create unique index ${names.index('ledger_key')} on ${names.table('ledger')} (id_space, transaction_key, entry);`,
      )
}

function checkScale({ connection, names, amountScale }: SqliteContext): StoreFinding {
  const row = connection
    .prepare(`select value from ${names.table('settings')} where name = 'amount_scale'`)
    .get()
  const stored = row?.['value'] ?? null
  return stored === null || stored === String(amountScale)
    ? finding('amount_scale', 'ok', `Amounts have ${amountScale} decimals.`)
    : finding(
        'amount_scale',
        'refuse',
        `The database keeps amounts with ${String(stored)} decimals, the configuration says ${amountScale}.`,
        `Set amountScale to ${String(stored)}.`,
      )
}

function read(connection: SqlConnection, sql: string): string {
  const value = connection.prepare(sql).get()?.['value']
  return value instanceof Uint8Array ? '' : String(value)
}

function isOlder(parts: readonly number[], than: readonly number[]): boolean {
  const index = than.findIndex((part, position) => (parts[position] ?? 0) !== part)
  return index >= 0 && (parts[index] ?? 0) < (than[index] ?? 0)
}

function finding(
  check: string,
  severity: Severity,
  message: string,
  cure: string | null = null,
): StoreFinding {
  return { check, severity, message, cure }
}
