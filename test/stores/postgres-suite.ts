/**
 * What the store suites need of a PostgreSQL database, beside the store itself.
 *
 * @module
 */
import pg from 'pg'
import { StoreError } from '../../src/errors.js'
import type { LedgerStore, StoreOptions } from '../../src/ledger/store.js'
import { formatMinor } from '../../src/money.js'
import { openPostgres, type OpenPostgresOptions } from '../../src/stores/postgres/index.js'
import type { OpenSuiteStore } from '../../src/testing/suite-store.js'
import { runSql, type PostgresServer } from '../servers/postgres.js'

export interface PostgresSuiteOptions extends Pick<OpenPostgresOptions, 'isolation' | 'pooler'> {
  /** The address that the stores connect to, given the database's own; the suite's own sessions go straight to it. */
  readonly route?: (database: string) => Promise<string>
  /** Makes the publisher's own table; its columns are `id` and `coins`. */
  readonly users?: string
}

/** Opens stores on fresh databases of the server. */
export function openSuiteOn(server: PostgresServer, suite: PostgresSuiteOptions = {}): OpenSuiteStore {
  return async (options: StoreOptions) => {
    const database = await server.newDatabase()
    if (suite.users !== undefined) await runSql(database, suite.users)
    const address = (await suite.route?.(database)) ?? database
    const opened: LedgerStore[] = []
    const open = async (): Promise<LedgerStore> => {
      const store = await openPostgres(address, {
        ...options,
        ...(suite.isolation === undefined ? {} : { isolation: suite.isolation }),
        ...(suite.pooler === undefined ? {} : { pooler: suite.pooler }),
        ...(suite.users === undefined ? {} : { wallets: { table: 'users', id: 'id', balance: 'coins' } }),
      })
      await store.start()
      const ready = suite.isolation === 'serializable' ? retrying(store) : store
      opened.push(ready)
      return ready
    }
    const store = await open()
    const admin = new pg.Client({ connectionString: database })
    admin.on('error', () => undefined)
    await admin.connect()
    const [table, id, balance] =
      suite.users === undefined
        ? ['paidonce_wallets', 'user_id', 'balance']
        : (['users', 'id', 'coins'] as const)
    const hold = async (text: string, values: string[]): Promise<() => Promise<void>> => {
      const other = new pg.Client({ connectionString: database })
      await other.connect()
      await other.query('begin')
      await other.query(text, values)
      return () => other.end()
    }
    return {
      store,
      second: open,
      addWallet: async (user, minor = 0n) => {
        await admin.query(`insert into ${table} (${id}, ${balance}) values ($1, $2)`, [
          user,
          formatMinor(minor, store.amountScale),
        ])
      },
      removeWallet: async (user) => {
        await admin.query(`delete from ${table} where ${id} = $1`, [user])
      },
      corruptBalanceAfter: async (user) => {
        await admin.query(
          `update paidonce_ledger set balance_after = balance_after + 1
where id = (select max(id) from paidonce_ledger where user_id = $1 and balance_after is not null)`,
          [user],
        )
      },
      lockWallet: (user) => hold(`select 1 from ${table} where ${id} = $1 for update`, [user]),
      holdKey: (idSpace, transactionKey) =>
        hold(
          `insert into paidonce_ledger (id_space, transaction_key, entry, network, transaction_id, user_id, amount, decision)
values ($1, $2, 'credit', $1, $2, 'u1', 1, 'booked')`,
          [idSpace, transactionKey],
        ),
      countMessages: async () => {
        const { rows } = await admin.query<{ n: string }>('select count(*) as n from paidonce_outbox')
        return Number(rows[0]?.n)
      },
      close: async () => {
        for (const one of opened) await one.close()
        await admin.end()
      },
    }
  }
}

/** Runs a group again after a serialization failure, as the committer does. */
function retrying(store: LedgerStore): LedgerStore {
  return {
    ...store,
    applyGroup: async (members, options) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await store.applyGroup(members, options)
        } catch (error) {
          if (!(error instanceof StoreError) || error.failure !== 'retry' || attempt === 20) throw error
        }
      }
    },
  }
}
