/**
 * The store port on MySQL and MariaDB, operation by operation.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { PaidonceError, StoreError } from '../../errors.js'
import type { LedgerStore, StoreFinding, StoreOptions } from '../../ledger/store.js'
import { tableNames } from '../table-names.js'
import { adjust } from './adjust.js'
import { applyGroup } from './apply-group.js'
import { awaitKey } from './await-key.js'
import { auditChains, auditPairs, auditWallets } from './audit.js'
import type { MysqlContext } from './context.js'
import type { MysqlPool } from './driver.js'
import { listEntries, listStandingTests, markTestsCleared, readTransaction, usedIdSpaces } from './entries.js'
import { isDuplicateOf } from './errors.js'
import {
  correctAnswers,
  listPostbacks,
  prunePostbacks,
  readPostback,
  resolvePostback,
  verifiedAddresses,
  writePostbacks,
} from './inbox.js'
import { migrate, migrationSql } from './migrator.js'
import { Odds } from '../odds.js'
import { bytes } from './rows.js'
import { withSession, type Session } from './session.js'
import { claimSetting, readSetting, replaceSetting } from './settings.js'
import { isReadOnly, judgeServer, readServerFacts, verifySchema } from './verify.js'
import { verifyWallets, walletTableRefused } from './verify-wallets.js'
import {
  ownWallets,
  pageOfWallets,
  readWalletRow,
  selectWallets,
  type WalletColumns,
} from './wallet-table.js'

/** What the MySQL store is told. */
export interface MysqlStoreOptions extends StoreOptions {
  /** The app's own pool of `mysql2/promise`. Its sessions get their settings back after each use. */
  readonly pool: MysqlPool
  /** How many groups run at once. Default 1. */
  readonly lanes?: number
}

/** Groups that may wait for locks beside the lanes; each holds a connection meanwhile. */
const ASIDES = 2

const READ_MS = 15_000
const AUDIT_MS = 120_000
const MIGRATE_MS = 3_600_000

/**
 * Makes the store.
 *
 * @param ours the pool belongs to the store: settings stay on its connections, and close() ends it
 */
export function createStore(options: MysqlStoreOptions, ours: boolean): LedgerStore {
  const names = tableNames('`', options.tables)
  const scale = scaleOf(options)
  const { wallets: foreign, migrate: mode = 'auto' } = options
  const place = { names, scale }
  const source = { pool: options.pool, ours, prepared: new WeakSet<object>() }
  let closed: Promise<void> | null = null
  let columns: WalletColumns | null = foreign === undefined ? ownWallets(names, scale) : null

  const use = <T>(work: (session: Session) => Promise<T>, timeoutMs = READ_MS): Promise<T> =>
    withSession(source, { timeoutMs }, work)

  const context: MysqlContext = {
    source,
    names,
    scale,
    unknownUser: options.unknownUser ?? 'retry',
    outbox: options.outbox ?? false,
    odds: new Odds(),
    wallets: async () => {
      columns ??= await use(async (session) => {
        const verdict = foreign === undefined ? null : await verifyWallets(session, names, foreign, scale)
        if (verdict?.columns == null) {
          throw new StoreError('away', verdict?.findings[0]?.message ?? 'There is no wallet table.')
        }
        return verdict.columns
      })
      return columns
    },
  }

  const inspectWallets = async (session: Session): Promise<readonly StoreFinding[]> => {
    if (foreign === undefined) return []
    const verdict = await verifyWallets(session, names, foreign, scale)
    columns = verdict.columns
    return verdict.findings
  }

  const claimLedger = async (session: Session): Promise<void> => {
    const standing = await claimSetting(session, names, 'amount_scale', String(scale))
    if (standing !== String(scale)) {
      const message = `The ledger has ${standing} decimals, the configuration ${scale}.`
      throw new PaidonceError('ledger_mismatch', message, { hint: `Set amountScale to ${standing}.` })
    }
    await claimSetting(session, names, 'ledger_id', randomUUID())
  }

  const snapshot = <T>(work: (session: Session) => Promise<T>): Promise<T> =>
    use(async (session) => {
      await session.beginSnapshot()
      return work(session)
    }, AUDIT_MS)

  return {
    dialect: 'mysql',
    amountScale: scale,
    unknownUser: context.unknownUser,
    foreignWallets: foreign !== undefined,
    lanes: options.lanes ?? 1,
    asides: ASIDES,

    start: async () => {
      const server = await use(async (session) => judgeServer(await readServerFacts(session)))
      throwRefusal(server)
      await use((session) => migrate(session, names, scale, mode), MIGRATE_MS)
      const schema = await use((session) => verifySchema(session, names, scale, mode))
      throwRefusal(schema.filter(({ check }) => check === 'schema'))
      await use(claimLedger)
      throwRefusal(schema)
      const wallets = await use(inspectWallets, AUDIT_MS)
      const refused = wallets.find(({ severity }) => severity === 'refuse')
      if (refused !== undefined) throw walletTableRefused(refused)
      return [...server, ...schema, ...wallets]
    },
    inspect: () =>
      use(async (session) => {
        const server = judgeServer(await readServerFacts(session))
        return [
          ...server,
          ...(await verifySchema(session, names, scale, mode)),
          ...(await inspectWallets(session)),
        ]
      }, AUDIT_MS),
    migrationSql: (which) =>
      which === 'all'
        ? migrationSql(null, names, scale)
        : use((session) => migrationSql(session, names, scale)),
    ping: () =>
      use(async (session) => {
        if (isReadOnly(await readServerFacts(session)))
          throw new StoreError('away', 'The server is read-only.')
        const [row] = await session.read({
          sql: 'select cast(unix_timestamp(current_timestamp(3)) * 1000 as char) as now',
          values: [],
        })
        return new Date(Math.round(Number(row?.['now'])))
      }, 2_000),
    close: async () => {
      closed ??= ours ? (options.pool.end?.() ?? Promise.resolve()) : Promise.resolve()
      await closed
    },

    applyGroup: (members, groupOptions) => applyGroup(context, members, groupOptions),
    awaitKey: (key, waitMs) => awaitKey(context, key, waitMs),

    readWallet: async (user) => {
      const table = await context.wallets()
      const statement = selectWallets(table, [user], 'none')
      if (statement === null) return null
      const [row] = await use((session) => session.read(statement))
      return row === undefined ? null : readWalletRow(table, row)
    },
    listWallets: async ({ limit, cursor, prefix = '', negative = false }) => {
      const table = await context.wallets()
      const statement = pageOfWallets(table, { after: cursor, prefix, negative, limit: limit + 1 })
      if (statement === null) return { items: [], nextCursor: null }
      const rows = await use((session) => session.read(statement))
      const items = rows.slice(0, limit).map((row) => readWalletRow(table, row))
      return { items, nextCursor: rows.length > limit ? (items.at(-1)?.user ?? null) : null }
    },
    createWallet: async (user) => {
      if (foreign !== undefined) {
        throw new PaidonceError(
          'foreign_wallets',
          `Wallets are rows of ${foreign.table}, which only the app makes.`,
        )
      }
      try {
        await use((session) =>
          session.write({
            sql: `insert into ${names.table('wallets')} (user_id, created_at) values (?, utc_timestamp(3))`,
            values: [bytes(user)],
          }),
        )
        return true
      } catch (error) {
        if (isDuplicateOf(error, 'PRIMARY')) return false
        throw error
      }
    },
    adjust: (adjustment) => adjust(context, adjustment),

    listEntries: (user, page) => use((session) => listEntries(session, place, user, page)),
    readTransaction: (idSpace, id) => use((session) => readTransaction(session, place, idSpace, id)),
    usedIdSpaces: () => use((session) => usedIdSpaces(session, place), AUDIT_MS),

    writePostbacks: (rows) => use((session) => writePostbacks(session, place, rows)),
    correctAnswers: (corrections) => use((session) => correctAnswers(session, place, corrections)),
    listPostbacks: (filter, page) => use((session) => listPostbacks(session, place, filter, page)),
    readPostback: (id) => use((session) => readPostback(session, place, id)),
    resolvePostback: (id, reason) => use((session) => resolvePostback(session, place, id, reason)),
    prunePostbacks: (prune) => use((session) => prunePostbacks(session, place, prune), AUDIT_MS),
    verifiedAddresses: (since, limit) =>
      use((session) => verifiedAddresses(session, place, since, limit), AUDIT_MS),

    claimSetting: (name, value) => use((session) => claimSetting(session, names, name, value)),
    readSetting: (name) => use((session) => readSetting(session, names, name)),
    replaceSetting: (name, value) => use((session) => replaceSetting(session, names, name, value)),

    listStandingTests: (network, limit) =>
      use((session) => listStandingTests(session, place, network, limit), AUDIT_MS),
    markTestsCleared: (network) => use((session) => markTestsCleared(session, place, network), AUDIT_MS),

    auditWallets: async (after, limit) => {
      const table = await context.wallets()
      return snapshot((session) => auditWallets(session, place, table, after, limit))
    },
    auditChains: (after, limit) => snapshot((session) => auditChains(session, place, after, limit)),
    auditPairs: (after, limit) => snapshot((session) => auditPairs(session, place, after, limit)),
  }
}

function scaleOf({ amountScale = 3, unknownUser, wallets }: StoreOptions): number {
  if (!Number.isInteger(amountScale) || amountScale < 0 || amountScale > 6) {
    throw new PaidonceError('config_invalid', `amountScale is ${String(amountScale)}.`, {
      hint: 'Use 0 to 6.',
    })
  }
  if (unknownUser === 'create' && wallets !== undefined) {
    throw new PaidonceError(
      'config_invalid',
      `unknownUser is "create", but wallets are rows of ${wallets.table}.`,
      {
        hint: 'Use "retry" or "hold": only the app can make its users.',
      },
    )
  }
  return amountScale
}

function throwRefusal(findings: readonly StoreFinding[]): void {
  const refused = findings.find(({ severity }) => severity === 'refuse')
  if (refused === undefined) return
  throw new PaidonceError(
    'database_refused',
    refused.message,
    refused.cure === null ? {} : { hint: refused.cure },
  )
}
