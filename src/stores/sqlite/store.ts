/**
 * The SQLite store: one file, one writer at a time, any number of processes on the machine that holds the file.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { PaidonceError } from '../../errors.js'
import type { GroupMember } from '../../ledger/group.js'
import type { PostbackRow } from '../../ledger/postback-row.js'
import type * as Port from '../../ledger/store.js'
import type { LedgerEntry } from '../../ledger/types.js'
import { Odds } from '../odds.js'
import { RecentCredits } from '../recent-credits.js'
import { tableNames } from '../table-names.js'
import { adjust } from './adjust.js'
import { applyGroup } from './apply-group.js'
import { auditChains, auditPairs, auditWallets } from './audit.js'
import type { SqliteContext } from './context.js'
import { borrowConnection, openConnection, type SqlConnection } from './connection.js'
import type { DriverName, SqliteHandle } from './driver.js'
import * as entries from './entries.js'
import * as inbox from './inbox.js'
import { migrate, migrationSql } from './migrator.js'
import { createReader } from './reader.js'
import { claimSetting, readSetting, replaceSetting } from './settings.js'
import { PATIENT, preparePragmas, writeTransaction } from './transaction.js'
import { refuseFirst, verifyDatabase, verifySchema } from './verify.js'
import {
  foreignWallets,
  inspectWalletTable,
  isRefusal,
  ownWallets,
  walletTableRefused,
  type WalletSql,
} from './wallet-table.js'
import { createWriter } from './writer.js'

/** Options of a store on a handle that the publisher's app opened. */
export interface SqliteStoreOptions extends Port.StoreOptions {
  /** A `Database` of better-sqlite3 or a `DatabaseSync` of node:sqlite. It stays the app's: nobody closes it here. */
  readonly database: SqliteHandle
}

export interface SqliteStore extends Port.LedgerStore {
  /** The driver that this process uses. */
  readonly driver: DriverName
}

/**
 * Opens a file, or makes it (readable by its owner only) together with its folder. WAL and synchronous=FULL are set.
 * The file must be on a local disk: a network file system breaks SQLite's locks, and nothing can detect that. A file that
 * the app has open in this same process belongs to `sqliteStore`: two copies of SQLite in one process break each other's
 * locks (sqlite.org/howtocorrupt.html, 2.2.1).
 *
 * @param path a path, or `:memory:`
 * @throws PaidonceError `driver_missing`, `database_away`, `config_invalid`
 * @example
 * ```ts
 * import { openSqlite } from 'paidonce/sqlite'
 *
 * const store = await openSqlite('./data/paidonce.db', { amountScale: 3 })
 * await store.start()
 * ```
 */
export async function openSqlite(path: string, options: Port.StoreOptions = {}): Promise<SqliteStore> {
  checkOptions(options)
  const connection = openConnection(path)
  try {
    await preparePragmas(connection)
  } catch (cause) {
    connection.close()
    throw new PaidonceError('database_away', `The SQLite file ${JSON.stringify(path)} cannot be used.`, {
      hint: 'Check that it is a SQLite database, and that this process may write to it and to its folder.',
      cause,
    })
  }
  return createStore(connection, options)
}

/**
 * Books into the database that the app has open. synchronous is raised to what a 200 needs; the journal mode stays as
 * it is, and no transaction of the app is ever joined.
 *
 * @throws PaidonceError `config_invalid` where the handle is none.
 * @example
 * ```ts
 * import Database from 'better-sqlite3'
 * import { sqliteStore } from 'paidonce/sqlite'
 *
 * const store = sqliteStore({
 *   database: new Database('app.db'),
 *   wallets: { table: 'users', id: 'id', balance: 'coins' },
 *   amountScale: 0,
 * })
 * ```
 */
export function sqliteStore({ database, ...options }: SqliteStoreOptions): SqliteStore {
  checkOptions(options)
  return createStore(borrowConnection(database), options)
}

function createStore(connection: SqlConnection, options: Port.StoreOptions): SqliteStore {
  const context = contextOf(connection, options)
  return {
    dialect: 'sqlite',
    driver: connection.driver,
    amountScale: context.amountScale,
    unknownUser: context.unknownUser,
    foreignWallets: context.foreign !== null,
    // One writer at a time, whatever the number of lanes.
    lanes: 1,
    ahead: context.writer === null ? 1 : 2,
    asides: 1,

    start: () => start(context),
    inspect: () => inspect(context),
    migrationSql: async (which) => migrationSql(context, which),
    ping: () => ping(context),
    close: async () => {
      // The reader first: the last connection that closes folds the WAL into the file, and a reader cannot.
      await context.reader.close()
      await context.writer?.close()
      connection.close()
    },

    applyGroup: (members: readonly GroupMember[], group: Port.GroupOptions) =>
      applyGroup(context, members, group),
    // The one writer of a file holds the whole of it, so no key can be written and not committed beside it.
    awaitKey: async () => true,
    adjust: (adjustment: Port.Adjustment) => adjust(context, adjustment),

    readWallet: (user) => entries.readWallet(context, user),
    listWallets: (page) => entries.listWallets(context, page),
    createWallet: (user) => entries.createWallet(context, user),
    listEntries: (user, page): Promise<Port.PageOf<LedgerEntry>> => entries.listEntries(context, user, page),
    readTransaction: (idSpace, transactionId) => entries.readTransaction(context, idSpace, transactionId),
    usedIdSpaces: () => entries.usedIdSpaces(context),
    listStandingTests: (network, limit) => entries.listStandingTests(context, network, limit),
    markTestsCleared: (network) => entries.markTestsCleared(context, network),

    writePostbacks: (rows: readonly PostbackRow[]) => inbox.writePostbacks(context, rows),
    correctAnswers: (corrections) => inbox.correctAnswers(context, corrections),
    listPostbacks: (filter, page) => inbox.listPostbacks(context, filter, page),
    readPostback: (id) => inbox.readPostback(context, id),
    resolvePostback: (id, reason) => inbox.resolvePostback(context, id, reason),
    prunePostbacks: (prune) => inbox.prunePostbacks(context, prune),
    verifiedAddresses: (since, limit) => inbox.verifiedAddresses(context, since, limit),

    claimSetting: (name, value) => claimSetting(context, name, value),
    readSetting: (name) => readSetting(context, name),
    replaceSetting: (name, value) => replaceSetting(context, name, value),

    auditWallets: (after, limit) => auditWallets(context, after, limit),
    auditChains: (after, limit) => auditChains(context, after, limit),
    auditPairs: (after, limit) => auditPairs(context, after, limit),
  }
}

async function start(context: SqliteContext): Promise<readonly Port.StoreFinding[]> {
  if (context.connection.borrowed) await preparePragmas(context.connection)
  const database = verifyDatabase(context)
  refuseFirst(database)
  await migrate(context)
  const scale = await claimSetting(context, 'amount_scale', String(context.amountScale))
  if (scale !== String(context.amountScale)) {
    throw new PaidonceError(
      'ledger_mismatch',
      `The database keeps amounts with ${scale} decimals, the configuration says ${context.amountScale}.`,
      { hint: `Set amountScale to ${scale}.` },
    )
  }
  await claimSetting(context, 'ledger_id', randomUUID())
  const findings = [...database, ...(await verifySchema(context))]
  refuseFirst(findings)
  return findings
}

async function inspect(context: SqliteContext): Promise<readonly Port.StoreFinding[]> {
  return [...verifyDatabase(context), ...(await verifySchema(context))]
}

/** The write lock is taken and given back, which a read-only file or a folder without rights does not give. */
function ping({ connection }: SqliteContext): Promise<Date> {
  return writeTransaction(connection, PATIENT, () => new Date())
}

function contextOf(connection: SqlConnection, options: Port.StoreOptions): SqliteContext {
  const names = tableNames('"', options.tables)
  const amountScale = options.amountScale ?? 3
  const foreign = options.wallets ?? null
  let wallets: WalletSql | null = foreign === null ? ownWallets(names) : null
  const lookUp = (table: Port.WalletTable): WalletSql => {
    const shape = inspectWalletTable(connection, table, amountScale)
    if (isRefusal(shape)) throw walletTableRefused(shape)
    return foreignWallets(table, names, shape)
  }
  return {
    connection,
    reader: createReader(connection),
    writer: createWriter(connection),
    odds: new Odds(),
    recent: new RecentCredits(),
    names,
    amountScale,
    unknownUser: options.unknownUser ?? 'retry',
    outbox: options.outbox ?? false,
    foreign,
    migrate: options.migrate ?? 'auto',
    wallets: () => (wallets ??= lookUp(foreign as Port.WalletTable)),
  }
}

function checkOptions({ amountScale = 3, tables, wallets, unknownUser }: Port.StoreOptions): void {
  if (!Number.isInteger(amountScale) || amountScale < 0 || amountScale > 6) {
    throw new PaidonceError('config_invalid', `amountScale is ${amountScale}.`, { hint: 'Use 0 to 6.' })
  }
  if (tables?.schema !== undefined || wallets?.schema !== undefined) {
    throw new PaidonceError('config_invalid', 'A schema is given, and a SQLite file has none.', {
      hint: 'Leave out tables.schema and wallets.schema.',
    })
  }
  if (wallets !== undefined && unknownUser === 'create') {
    throw new PaidonceError(
      'config_invalid',
      'unknownUser is "create", but wallets are the app\'s own rows.',
      {
        hint: 'Use "retry" or "hold" with a table of your own.',
      },
    )
  }
}
