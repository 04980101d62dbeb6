/**
 * MariaDB for a benchmark: full durability with the binary log on, so that `sync_binlog` means something.
 *
 * @module
 */
import mysql from 'mysql2/promise'
import { runMysql, startMariadb } from '../../test/servers/mariadb.js'
import { userName } from '../load/calls.js'
import type { BenchDatabase, BenchServer, Hold } from './database.js'

const SETTINGS = {
  innodb_flush_log_at_trx_commit: '1',
  sync_binlog: '1',
  log_bin: 'binlog',
  innodb_doublewrite: '1',
  innodb_buffer_pool_size: '1G',
  innodb_log_file_size: '1G',
  max_connections: '200',
}

export async function startBenchMariadb(): Promise<BenchServer> {
  const server = await startMariadb({ settings: SETTINGS })
  const [row] = await runMysql(server.url, 'select version() as version')
  return {
    store: 'mariadb',
    version: `MariaDB ${String(row?.['version']).split('-')[0] ?? ''}`,
    newDatabase: async () => openDatabase(await server.newDatabase(), server.url),
    async newFilledDatabase(_name, fill) {
      // InnoDB has no copy of a whole database: it is filled each time.
      const database = openDatabase(await server.newDatabase(), server.url)
      await fill(database)
      return database
    },
    stop: () => server.stop(),
  }
}

function openDatabase(url: string, maintenance: string): BenchDatabase {
  return {
    store: 'mariadb',
    url,
    rows: (sql) => runMysql(url, sql),
    async makeTextbookTables(wallets) {
      await runMysql(
        url,
        `create table users (id varchar(255) character set utf8mb4 collate utf8mb4_bin not null primary key,
           balance decimal(19, 3) not null default 0) engine = InnoDB`,
      )
      await runMysql(
        url,
        `create table transactions (
           transaction_id varchar(255) character set utf8mb4 collate utf8mb4_bin not null,
           entry varchar(16) character set utf8mb4 collate utf8mb4_bin not null,
           user_id varchar(255) character set utf8mb4 collate utf8mb4_bin not null,
           amount decimal(19, 3) not null,
           created_at timestamp not null default current_timestamp,
           primary key (transaction_id, entry)
         ) engine = InnoDB`,
      )
      await runMysql(url, `insert into users (id) ${walletNames(wallets, '')}`)
    },
    async fillWallets(wallets) {
      await runMysql(
        url,
        `insert into paidonce_wallets (user_id, created_at) ${walletNames(wallets, ', utc_timestamp(3)')}`,
      )
    },
    async settle() {
      await runMysql(url, 'flush logs')
    },
    holdWallet: (user) =>
      hold(url, 'select 1 from paidonce_wallets where user_id = ? for update', [Buffer.from(user)]),
    holdKey: (transactionId) =>
      hold(
        url,
        `insert into paidonce_ledger
           (id_space, transaction_key, entry, network, transaction_id, user_id, amount, decision, created_at)
         values ('sharklio', ?, 'credit', 'sharklio', ?, 'somebody', 1, 'booked', utc_timestamp(3))`,
        [Buffer.from(transactionId), Buffer.from(transactionId)],
      ),
    async drop() {
      await runMysql(maintenance, `drop database \`${new URL(url).pathname.slice(1)}\``)
      // The binary logs of a sitting would fill the disk.
      await runMysql(maintenance, 'reset master')
    },
  }
}

function walletNames(wallets: number, more: string): string {
  const prefix = userName(0).slice(0, -5)
  return `select concat('${prefix}', lpad(seq, 5, '0'))${more} from seq_1_to_${wallets}`
}

async function hold(url: string, text: string, values: readonly Buffer[]): Promise<Hold> {
  const connection = await mysql.createConnection({ uri: url, charset: 'utf8mb4' })
  connection.on('error', () => undefined)
  await connection.query('start transaction')
  await connection.query(text, [...values])
  return {
    async release() {
      await connection.query('rollback')
      await connection.end()
    },
  }
}
