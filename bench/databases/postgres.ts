/**
 * PostgreSQL for a benchmark: full durability, and enough room that no checkpoint falls into a run by chance.
 *
 * @module
 */
import pg from 'pg'
import { runSql, startPostgres } from '../../test/servers/postgres.js'
import { userName } from '../load/calls.js'
import type { BenchDatabase, BenchServer, Hold } from './database.js'

const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  shared_buffers: '512MB',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  max_connections: '200',
}

export async function startBenchPostgres(): Promise<BenchServer> {
  const server = await startPostgres({ settings: SETTINGS })
  const [row] = await runSql(server.url, 'show server_version')
  const templates = new Map<string, string>()
  const open = (url: string): BenchDatabase => openDatabase(url, server.url)
  return {
    store: 'postgres',
    version: `PostgreSQL ${String(row?.['server_version']).split(' ')[0] ?? ''}`,
    newDatabase: async () => open(await server.newDatabase()),
    async newFilledDatabase(name, fill) {
      let template = templates.get(name)
      if (template === undefined) {
        const database = open(await server.newDatabase())
        await fill(database)
        template = nameOf(database.url)
        templates.set(name, template)
      }
      const copy = `${template}_${Date.now().toString(36)}`
      // Page by page through the log would double the copy's cost; a file copy ends with a checkpoint instead.
      await runSql(server.url, `create database "${copy}" template "${template}" strategy file_copy`)
      const url = new URL(server.url)
      url.pathname = `/${copy}`
      return open(url.href)
    },
    stop: () => server.stop(),
  }
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

function openDatabase(url: string, maintenance: string): BenchDatabase {
  return {
    store: 'postgres',
    url,
    rows: (sql) => runSql(url, sql),
    async makeTextbookTables(wallets) {
      await runSql(
        url,
        `create table users (id text primary key, balance numeric(19, 3) not null default 0);
         create table transactions (
           transaction_id text not null,
           entry text not null,
           user_id text not null,
           amount numeric(19, 3) not null,
           created_at timestamptz not null default now(),
           primary key (transaction_id, entry)
         );
         insert into users (id) ${walletNames(wallets)}`,
      )
      await runSql(url, 'vacuum analyze users')
    },
    async fillWallets(wallets) {
      await runSql(url, `insert into paidonce_wallets (user_id) ${walletNames(wallets)}`)
      await runSql(url, 'vacuum analyze paidonce_wallets')
    },
    async settle() {
      await runSql(url, 'checkpoint')
    },
    holdWallet: (user) => hold(url, 'select 1 from paidonce_wallets where user_id = $1 for update', [user]),
    holdKey: (transactionId) =>
      hold(
        url,
        `insert into paidonce_ledger
           (id_space, transaction_key, entry, network, transaction_id, user_id, amount, decision)
         values ('sharklio', $1, 'credit', 'sharklio', $1, 'somebody', 1, 'booked')`,
        [transactionId],
      ),
    async drop() {
      await runSql(maintenance, `drop database "${nameOf(url)}" with (force)`)
    },
  }
}

function walletNames(wallets: number): string {
  const prefix = userName(0).slice(0, -5)
  return `select '${prefix}' || lpad(n::text, 5, '0') from generate_series(1, ${wallets}) n`
}

async function hold(url: string, text: string, values: readonly string[]): Promise<Hold> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  await client.query('begin')
  await client.query(text, [...values])
  return {
    async release() {
      await client.query('rollback')
      await client.end()
    },
  }
}
