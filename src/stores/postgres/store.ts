/**
 * The ledger on PostgreSQL 14 and newer.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { PaidonceError, StoreError } from '../../errors.js'
import type { LedgerStore, StoreFinding, StoreOptions } from '../../ledger/store.js'
import { RecentCredits } from '../recent-credits.js'
import { tableNames } from '../table-names.js'
import { adjust } from './adjust.js'
import { applyGroup } from './apply-group.js'
import { awaitKey } from './await-key.js'
import { auditChains, auditPairs, auditWallets } from './audit.js'
import type { PostgresContext } from './context.js'
import type { PgPool } from './driver.js'
import { listEntries, listStandingTests, markTestsCleared, readTransaction, usedIdSpaces } from './entries.js'
import { groupStatements } from './group-statements.js'
import {
  correctAnswers,
  listPostbacks,
  prunePostbacks,
  readPostback,
  resolvePostback,
  verifiedAddresses,
  writePostbacks,
} from './inbox.js'
import { migrate, migrationScript, readPending } from './migrator.js'
import { POSTGRES_MIGRATIONS } from './migrations.js'
import { createSessions, type Session } from './session.js'
import { claimSetting, readSetting, replaceSetting } from './settings.js'
import { ShortWayOdds } from './short-way.js'
import { refuse, verifyServer, verifyTables } from './verify.js'
import { checkWalletTable, type WalletCheck } from './wallet-check.js'
import { walletSql, type WalletSql } from './wallet-table.js'
import { createWallet, listWallets, readWallet } from './wallets.js'

export interface PostgresStoreOptions extends StoreOptions {
  /** The app's own `pg.Pool`, or anything that behaves as one. It is not closed by the store. */
  readonly pool: PgPool
  /**
   * A pooler such as pgbouncer stands between: no named statements, nothing set on a connection. Default false: a
   * connection then parses each statement once.
   */
  readonly pooler?: boolean
  /** Default `read committed`. */
  readonly isolation?: 'read committed' | 'serializable'
  /** How many groups may run at once. Default 1: one large group costs less than two of half its size. */
  readonly lanes?: number
  /** How long the database may stay silent before a connection is given up, beside lock waits. Default 10,000 ms. */
  readonly hangMs?: number
  /** How long to wait for a connection of the pool. Default 2,000 ms. */
  readonly connectMs?: number
}

/** Connections for groups that wait for locks, beside the lanes. */
export const ASIDES = 4

export const DEFAULT_LANES = 1

/**
 * Makes a store on the app's own pool.
 *
 * @throws PaidonceError `config_invalid` where the prefix or the scale cannot be used
 * @example
 * ```ts
 * import { postgresStore } from 'paidonce/postgres'
 * import pg from 'pg'
 *
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
 * const store = postgresStore({ pool, wallets: { table: 'users', id: 'id', balance: 'coins' } })
 * await store.start()
 * ```
 */
export function postgresStore(options: PostgresStoreOptions): LedgerStore {
  const scale = scaleOf(options.amountScale)
  const names = tableNames('"', options.tables)
  const sessions = createSessions({
    pool: options.pool,
    pooler: options.pooler ?? false,
    hangMs: options.hangMs ?? 10_000,
    connectMs: options.connectMs ?? 2_000,
  })
  const ownWallets = walletSql(
    {
      table: names.table('wallets'),
      id: names.quote('user_id'),
      balance: names.quote('balance'),
      idType: 'text',
      castType: 'text',
      bytewise: true,
    },
    scale,
  )
  const wallets = remember(async (): Promise<WalletSql> => {
    const check = await checkWallets(undefined)
    return check === null ? ownWallets : acceptedWallets(check, scale)
  })
  const context: PostgresContext = {
    sessions,
    names,
    scale,
    unknownUser: options.unknownUser ?? 'retry',
    foreignWallets: options.wallets !== undefined,
    odds: new ShortWayOdds(),
    recent: new RecentCredits(),
    isolation: options.isolation ?? 'read committed',
    wallets,
    statements: remember(async () => groupStatements(names, await wallets(), scale, options.outbox ?? false)),
  }

  /** Null where wallets are our own. */
  async function checkWallets(session: Session | undefined): Promise<WalletCheck | null> {
    const { wallets: table } = options
    if (table === undefined) return null
    if (session !== undefined) return checkWalletTable(session, table, scale, names)
    return sessions((own) => checkWalletTable(own, table, scale, names))
  }

  async function verify(session: Session): Promise<StoreFinding[]> {
    return [
      ...(await verifyTables(session, names, options.wallets === undefined)),
      ...((await checkWallets(session))?.findings ?? []),
    ]
  }

  return {
    dialect: 'postgres',
    amountScale: scale,
    unknownUser: context.unknownUser,
    foreignWallets: context.foreignWallets,
    lanes: options.lanes ?? DEFAULT_LANES,
    asides: ASIDES,

    start: () =>
      sessions(async (session) => {
        // Before anything is created: a standby, an old version or another encoding is no place for a ledger.
        const server = accept(await verifyServer(session))
        const check = await checkWallets(session)
        if (check !== null) accept(check.findings)
        await migrate(session, names, scale, options.migrate ?? 'auto')
        const standing = await claimSetting(session, names, 'amount_scale', String(scale))
        if (standing !== String(scale)) throw scaleMismatch(standing, scale)
        await claimSetting(session, names, 'ledger_id', randomUUID())
        return [...server, ...accept(await verify(session))]
      }),
    inspect: () =>
      sessions(async (session) => {
        const server = await verifyServer(session)
        const pending = await readPending(session, names)
        if (pending.length > 0) {
          const list = pending.map(({ number, title }) => `${number} (${title})`).join(', ')
          const behind = refuse(
            'schema',
            `The schema lacks the migrations ${list}.`,
            'Run "paidonce migrate".',
          )
          return [...server, behind, ...((await checkWallets(session))?.findings ?? [])]
        }
        const standing = await readSetting(session, names, 'amount_scale')
        const mismatch =
          standing === null || standing === String(scale)
            ? []
            : [
                refuse(
                  'amount_scale',
                  scaleMismatch(standing, scale).message,
                  `Set amountScale: ${standing}.`,
                ),
              ]
        return [...server, ...mismatch, ...(await verify(session))]
      }),
    migrationSql: async (which) => {
      if (which === 'all') return migrationScript(POSTGRES_MIGRATIONS, names, scale)
      return migrationScript(await sessions((session) => readPending(session, names)), names, scale)
    },
    ping: () =>
      sessions(async (session) => {
        const [row] = await session.runOnce(
          'read',
          `select (pg_is_in_recovery() or current_setting('transaction_read_only') = 'on')::text as read_only,
  (extract(epoch from clock_timestamp()) * 1000)::bigint::text as now`,
        )
        if (row?.['read_only'] !== 'false') throw new StoreError('away', 'The database is read-only.')
        return new Date(Number(row['now']))
      }),
    close: async () => undefined,

    applyGroup: (members, group) => applyGroup(context, members, group),
    awaitKey: (key, waitMs) => awaitKey(context, key, waitMs),
    readWallet: (user) => readWallet(context, user),
    listWallets: (page) => listWallets(context, page),
    createWallet: (user) => createWallet(context, user),
    adjust: (adjustment) => adjust(context, adjustment),
    listEntries: (user, page) => listEntries(context, user, page),
    readTransaction: (idSpace, transactionId) => readTransaction(context, idSpace, transactionId),
    usedIdSpaces: () => usedIdSpaces(context),
    writePostbacks: (rows) => writePostbacks(context, rows),
    correctAnswers: (corrections) => correctAnswers(context, corrections),
    listPostbacks: (filter, page) => listPostbacks(context, filter, page),
    readPostback: (id) => readPostback(context, id),
    resolvePostback: (id, reason) => resolvePostback(context, id, reason),
    prunePostbacks: (prune) => prunePostbacks(context, prune),
    verifiedAddresses: (since, limit) => verifiedAddresses(context, since, limit),
    claimSetting: (name, value) => sessions((session) => claimSetting(session, names, name, value)),
    readSetting: (name) => sessions((session) => readSetting(session, names, name)),
    replaceSetting: (name, value) => sessions((session) => replaceSetting(session, names, name, value)),
    listStandingTests: (network, limit) => listStandingTests(context, network, limit),
    markTestsCleared: (network) => markTestsCleared(context, network),
    auditWallets: (after, limit) => auditWallets(context, after, limit),
    auditChains: (after, limit) => auditChains(context, after, limit),
    auditPairs: (after, limit) => auditPairs(context, after, limit),
  }
}

function scaleOf(amountScale = 3): number {
  if (Number.isInteger(amountScale) && amountScale >= 0 && amountScale <= 6) return amountScale
  throw new PaidonceError('config_invalid', `amountScale is ${String(amountScale)}.`, {
    hint: 'Use a whole number from 0 to 6.',
  })
}

function scaleMismatch(standing: string, scale: number): PaidonceError {
  return new PaidonceError(
    'ledger_mismatch',
    `This ledger was made with amountScale ${standing}, and the configuration says ${scale}.`,
    { hint: `Set amountScale: ${standing}. The scale of a ledger is fixed at its first start.` },
  )
}

/** Passes findings on, unless one of them refuses. */
function accept(findings: readonly StoreFinding[]): readonly StoreFinding[] {
  const refusal = findings.find(({ severity }) => severity === 'refuse')
  if (refusal === undefined) return findings
  const code = refusal.check === 'wallet_table' ? 'wallet_table_refused' : 'database_refused'
  throw new PaidonceError(code, refusal.message, refusal.cure === null ? {} : { hint: refusal.cure })
}

function acceptedWallets({ findings, place }: WalletCheck, scale: number): WalletSql {
  accept(findings)
  if (place === null) throw new TypeError('A wallet table was accepted without being described.')
  return walletSql(place, scale)
}

/** Asks once and keeps the answer; a failure is asked again. */
function remember<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined
  return () => {
    answer ??= ask().catch((error: unknown) => {
      answer = undefined
      throw error
    })
    return answer
  }
}
