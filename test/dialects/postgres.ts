/**
 * @module
 */
import pg from 'pg'
import type { LedgerStore, StoreOptions } from '../../src/ledger/store.js'
import { openPostgres } from '../../src/stores/postgres/index.js'
import { startPostgres } from '../servers/postgres.js'
import { viaPort, type Database, type DialectBench } from './dialect.js'

export const POSTGRES: DialectBench = {
  name: 'postgres',
  start: async () => {
    const server = await startPostgres()
    return {
      port: server.port,
      newDatabase: async () => openDatabase(await server.newDatabase()),
      stop: () => server.stop(),
    }
  },
}

async function openDatabase(url: string): Promise<Database> {
  const admin = new pg.Client({ connectionString: url })
  admin.on('error', () => undefined)
  await admin.connect()
  const opened: LedgerStore[] = []
  const openAt = async (address: string, options: StoreOptions): Promise<LedgerStore> => {
    const store = await openPostgres(address, options)
    opened.push(store)
    await store.start()
    return store
  }
  const hold = async (text: string, values: string[]): Promise<() => Promise<void>> => {
    const other = new pg.Client({ connectionString: url })
    await other.connect()
    await other.query('begin')
    await other.query(text, values)
    other.on('error', () => undefined)
    return () => other.end()
  }
  return {
    url,
    open: (options = {}) => openAt(url, options),
    openVia: (port, options = {}) => openAt(viaPort(url, port), options),
    addWallet: async (user, balance = 0n) => {
      await admin.query(
        'insert into paidonce_wallets (user_id, balance) values ($1, $2::numeric / 1000) on conflict do nothing',
        [user, balance.toString()],
      )
    },
    raw: async () => {
      const entries = await admin.query<Record<string, string | null>>(
        `select id::text, id_space, transaction_key, entry, user_id, (amount * 1000)::bigint::text as amount,
          (balance_after * 1000)::bigint::text as after, decision, postback_id::text from paidonce_ledger`,
      )
      const wallets = await admin.query<Record<string, string>>(
        'select user_id, (balance * 1000)::bigint::text as balance from paidonce_wallets',
      )
      return {
        entries: entries.rows.map((row) => ({
          order: BigInt(row['id'] ?? ''),
          idSpace: row['id_space'] ?? '',
          key: row['transaction_key'] ?? '',
          entry: row['entry'] ?? '',
          user: row['user_id'] ?? '',
          amount: BigInt(row['amount'] ?? ''),
          balanceAfter: row['after'] === null || row['after'] === undefined ? null : BigInt(row['after']),
          decision: row['decision'] ?? '',
          postbackId: row['postback_id'] ?? null,
        })),
        wallets: new Map(wallets.rows.map((row) => [row['user_id'] ?? '', BigInt(row['balance'] ?? '')])),
      }
    },
    holdWallet: (user) => hold('select 1 from paidonce_wallets where user_id = $1 for update', [user]),
    holdKey: (idSpace, key) =>
      hold(
        `insert into paidonce_ledger (id_space, transaction_key, entry, network, transaction_id, user_id, amount, decision)
         values ($1, $2, 'credit', $1, $2, 'other', 1, 'booked')`,
        [idSpace, key],
      ),
    close: async () => {
      for (const store of opened) await store.close()
      await admin.end()
    },
  }
}
