/**
 * What the MySQL tests share: one server for a file, and the published suites' way to open a database on it.
 *
 * @module
 */
import mysql from 'mysql2/promise'
import type { WalletTable } from '../../src/ledger/store.js'
import { formatMinor } from '../../src/money.js'
import { openMysql } from '../../src/stores/mysql/store.js'
import type { OpenSuiteStore } from '../../src/testing/suite-store.js'
import { runMysql, type MariadbServer } from '../servers/mariadb.js'

/** The publisher's table of most tests. */
export const USERS: WalletTable = { table: 'users', id: 'id', balance: 'coins' }

/** A connection that a test plays another session with. */
export async function connectTo(url: string): Promise<mysql.Connection> {
  const connection = await mysql.createConnection({
    uri: url,
    charset: 'utf8mb4',
    supportBigNumbers: true,
    bigNumberStrings: true,
  })
  connection.on('error', () => undefined)
  return connection
}

/**
 * Opens a fresh database for each test of a published suite.
 *
 * @param usersTable the statement that creates the publisher's table; without it the store keeps its own wallets
 */
export function openSuiteOn(server: MariadbServer, usersTable?: string): OpenSuiteStore {
  return async (options) => {
    const url = await server.newDatabase()
    const app = await connectTo(url)
    if (usersTable !== undefined) await app.query(usersTable)
    const wallets = usersTable === undefined ? {} : { wallets: USERS }
    const table =
      usersTable === undefined ? 'paidonce_wallets (user_id, balance, created_at)' : 'users (id, coins)'
    const id = usersTable === undefined ? 'user_id' : 'id'
    const open = (): ReturnType<typeof openMysql> => openMysql(url, { ...options, ...wallets })
    const store = await open()
    await store.start()
    const opened = [store]
    return {
      store,
      second: async () => {
        const other = await open()
        await other.start()
        opened.push(other)
        return other
      },
      addWallet: async (user, balance = 0n) => {
        const now = usersTable === undefined ? ', utc_timestamp(3)' : ''
        await app.query(`insert into ${table} values (?, ?${now})`, [
          usersTable === undefined ? Buffer.from(user) : user,
          formatMinor(balance, store.amountScale),
        ])
      },
      removeWallet: async (user) => {
        await app.query(`delete from ${table.split(' ')[0] ?? ''} where ${id} = ?`, [user])
      },
      corruptBalanceAfter: async (user) => {
        await app.query(
          `update paidonce_ledger set balance_after = balance_after + 1 where user_id = ? and balance_after is not null
order by id desc limit 1`,
          [Buffer.from(user)],
        )
      },
      lockWallet: async (user) => {
        const other = await connectTo(url)
        await other.query('start transaction')
        await other.query(`select * from ${table.split(' ')[0] ?? ''} where ${id} = ? for update`, [user])
        return async () => {
          await other.query('rollback')
          other.destroy()
        }
      },
      holdKey: async (idSpace, transactionKey) => {
        const other = await connectTo(url)
        await other.query('start transaction')
        await insertCredit(other, idSpace, transactionKey)
        return async () => {
          await other.query('rollback')
          other.destroy()
        }
      },
      countMessages: async () => {
        const [row] = await runMysql(url, 'select count(*) as messages from paidonce_outbox')
        return Number(row?.['messages'])
      },
      close: async () => {
        for (const each of opened) await each.close()
        await app.query(`drop database \`${new URL(url).pathname.slice(1)}\``)
        app.destroy()
      },
    }
  }
}

/** Writes a credit entry of 1 coin as another receiver would. */
export async function insertCredit(
  connection: mysql.Connection,
  idSpace: string,
  transactionKey: string,
): Promise<void> {
  await connection.query(
    `insert into paidonce_ledger (id_space, transaction_key, entry, network, transaction_id, user_id, amount, decision,
  created_at) values (?, ?, 'credit', 'n', 't', 'other', 1, 'booked', utc_timestamp(3))`,
    [Buffer.from(idSpace), Buffer.from(transactionKey)],
  )
}
