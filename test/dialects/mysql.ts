/**
 * @module
 */
import mysql from 'mysql2/promise'
import type { LedgerStore, StoreOptions } from '../../src/ledger/store.js'
import { openMysql } from '../../src/stores/mysql/index.js'
import { startMariadb } from '../servers/mariadb.js'
import { viaPort, type Database, type DialectBench } from './dialect.js'

export const MYSQL: DialectBench = {
  name: 'mysql',
  start: async () => {
    const server = await startMariadb()
    return {
      port: server.port,
      newDatabase: async () => openDatabase(await server.newDatabase()),
      stop: () => server.stop(),
    }
  },
}

const connect = (url: string): Promise<mysql.Connection> =>
  mysql.createConnection({ uri: url, charset: 'utf8mb4' })

async function openDatabase(url: string): Promise<Database> {
  const admin = await connect(url)
  const opened: LedgerStore[] = []
  const openAt = async (address: string, options: StoreOptions): Promise<LedgerStore> => {
    const store = await openMysql(address, options)
    opened.push(store)
    await store.start()
    return store
  }
  const hold = async (text: string, values: unknown[]): Promise<() => Promise<void>> => {
    const other = await connect(url)
    await other.query('start transaction')
    await other.query(text, values)
    return () => other.end()
  }
  const rows = async (text: string): Promise<Record<string, string | null>[]> => {
    const [result] = await admin.query<mysql.RowDataPacket[]>(text)
    return result
  }
  return {
    url,
    open: (options = {}) => openAt(url, options),
    openVia: (port, options = {}) => openAt(viaPort(url, port), options),
    addWallet: async (user, balance = 0n) => {
      await admin.query(
        'insert into paidonce_wallets (user_id, balance, created_at) values (?, cast(? as decimal(22)) / 1000, utc_timestamp(3)) on duplicate key update user_id = user_id',
        [Buffer.from(user), balance.toString()],
      )
    },
    raw: async () => {
      const entries = await rows(
        `select cast(id as char) as id, convert(id_space using utf8mb4) as id_space, convert(transaction_key using utf8mb4) as k,
          entry, convert(user_id using utf8mb4) as user_id, cast(cast(amount * 1000 as decimal(22)) as char) as amount,
          cast(cast(balance_after * 1000 as decimal(22)) as char) as after_, decision, lower(hex(postback_id)) as p from paidonce_ledger`,
      )
      const wallets = await rows(
        'select convert(user_id using utf8mb4) as u, cast(cast(balance * 1000 as decimal(22)) as char) as b from paidonce_wallets',
      )
      return {
        entries: entries.map((row) => ({
          order: BigInt(row['id'] ?? ''),
          idSpace: row['id_space'] ?? '',
          key: row['k'] ?? '',
          entry: row['entry'] ?? '',
          user: row['user_id'] ?? '',
          amount: BigInt(row['amount'] ?? ''),
          balanceAfter: row['after_'] === null || row['after_'] === undefined ? null : BigInt(row['after_']),
          decision: row['decision'] ?? '',
          postbackId: dashed(row['p'] ?? null),
        })),
        wallets: new Map(wallets.map((row) => [row['u'] ?? '', BigInt(row['b'] ?? '')])),
      }
    },
    holdWallet: (user) =>
      hold('select 1 from paidonce_wallets where user_id = ? for update', [Buffer.from(user)]),
    holdKey: (idSpace, key) =>
      hold(
        `insert into paidonce_ledger (id_space, transaction_key, entry, network, transaction_id, user_id, amount, decision, created_at)
         values (?, ?, 'credit', ?, ?, 'other', 1, 'booked', utc_timestamp(3))`,
        [idSpace, key, idSpace, key].map((text) => Buffer.from(text)),
      ),
    close: async () => {
      for (const store of opened) await store.close()
      await admin.end()
    },
  }
}

function dashed(hex: string | null): string | null {
  return hex === null ? null : hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
