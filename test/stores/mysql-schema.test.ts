/**
 * The schema on MariaDB: migrations, views, checks at start, and the opening from a URL.
 *
 * @module
 */
import { afterAll, afterEach, expect, test } from 'vitest'
import type { StoreOptions } from '../../src/ledger/store.js'
import { openMysql, parseMysqlUrl } from '../../src/stores/mysql/store.js'
import { MYSQL_MIGRATIONS } from '../../src/stores/mysql/migrations.js'
import { judgeLedger, judgeServer, judgeTable } from '../../src/stores/mysql/verify.js'
import { tableNames } from '../../src/stores/table-names.js'
import { makeClaim } from '../../src/testing/claims.js'
import { settleOne } from '../../src/testing/suite-steps.js'
import { runMysql, startMariadb } from '../servers/mariadb.js'
import { connectTo } from './mysql-suite.js'

const server = await startMariadb()
const closing: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

afterAll(async () => {
  await server.stop()
})

async function open(url: string, options: StoreOptions = {}): ReturnType<typeof openMysql> {
  const store = await openMysql(url, options)
  closing.push(() => store.close())
  return store
}

test('several receivers start at once on an empty database, and share one ledger id', async () => {
  const url = await server.newDatabase()
  const stores = await Promise.all(Array.from({ length: 4 }, () => open(url)))
  await Promise.all(stores.map((store) => store.start()))
  const ids = await Promise.all(stores.map((store) => store.readSetting('ledger_id')))
  expect(new Set(ids).size).toBe(1)
  expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/)
  expect(await runMysql(url, 'select number from paidonce_migrations order by number')).toEqual(
    MYSQL_MIGRATIONS.map(({ number }) => ({ number })),
  )
})

test('"check" refuses a schema that is behind and accepts one that was applied by hand', async () => {
  const url = await server.newDatabase()
  const store = await open(url, { migrate: 'check' })
  expect((await store.inspect()).filter(({ severity }) => severity === 'refuse')).toMatchObject([
    { check: 'migrations' },
  ])
  await expect(store.start()).rejects.toMatchObject({ code: 'schema_behind' })
  const sql = await store.migrationSql('pending')
  expect(sql).toBe(await store.migrationSql('all'))
  const unchecked = await open(url, { migrate: 'off' })
  await expect(unchecked.start()).rejects.toMatchObject({ code: 'database_refused' })
  for (const statement of sql.split(/;\n/).filter((text) => text.trim() !== ''))
    await runMysql(url, statement)
  expect((await store.start()).every(({ severity }) => severity === 'ok')).toBe(true)
  expect(await store.migrationSql('pending')).toBe('')
})

test('a migration that was cut short after one of its statements is taken up again', async () => {
  const url = await server.newDatabase()
  const store = await open(url)
  await store.start()
  await runMysql(url, 'delete from paidonce_migrations where number > 1')
  await runMysql(
    url,
    `alter table paidonce_ledger drop key paidonce_ledger_other_id, drop column other_id,
       add key paidonce_ledger_transaction (transaction_id, id_space)`,
  )
  await store.start()
  expect(await store.migrationSql('pending')).toBe('')
  expect(await runMysql(url, `show columns from paidonce_ledger like 'other_id'`)).toHaveLength(1)
})

test('a migration whose text has changed is refused, as is a newer one and another scale', async () => {
  const url = await server.newDatabase()
  const store = await open(url)
  await store.start()
  await expect((await open(url, { amountScale: 2 })).start()).rejects.toMatchObject({
    code: 'ledger_mismatch',
  })
  await runMysql(url, `update paidonce_migrations set checksum = 'x'`)
  await expect(store.start()).rejects.toMatchObject({ code: 'schema_changed' })
  expect((await store.inspect()).map(({ check, severity }) => `${severity} ${check}`)).toContain(
    'refuse migrations',
  )
  expect((await (await open(url, { migrate: 'off' })).start()).map(({ severity }) => severity)).not.toContain(
    'refuse',
  )
  await runMysql(url, 'delete from paidonce_migrations where number > 1')
  await runMysql(url, 'update paidonce_migrations set number = 99')
  await expect(store.start()).rejects.toMatchObject({ code: 'schema_changed' })
})

test('tables take a prefix and live in another database, and the views show ids as text', async () => {
  const url = await server.newDatabase()
  const schema = new URL(await server.newDatabase()).pathname.slice(1)
  const store = await open(url, { tables: { prefix: 'rewards_', schema }, outbox: true })
  await store.start()
  await store.createWallet('josé')
  const claim = makeClaim({ transactionId: 't😀', user: 'josé' })
  await settleOne(store, claim)
  const waiting = makeClaim({ transactionId: 'later', user: 'ghost' })
  await settleOne(store, waiting)
  expect(
    await runMysql(
      url,
      `select network, transaction_id, \`user\`, cast(amount as char) as amount, postback_id from \`${schema}\`.rewards_v_entries`,
    ),
  ).toEqual([
    { network: 'n', transaction_id: 't😀', user: 'josé', amount: '1.000', postback_id: claim.postbackId },
  ])
  const view = `select id, url, \`user\`, open from \`${schema}\`.rewards_v_postbacks order by id`
  expect(await runMysql(url, view)).toEqual([
    { id: claim.postbackId, url: '/postback/n?tx=%00%FF', user: 'josé', open: 0 },
    { id: waiting.postbackId, url: '/postback/n?tx=%00%FF', user: 'ghost', open: 1 },
  ])
  await store.createWallet('ghost')
  await settleOne(store, makeClaim({ transactionId: 'later', user: 'ghost' }))
  expect((await runMysql(url, view)).map(({ open }) => open)).toEqual([0, 0, 0])
  expect((await store.listPostbacks({ open: true }, { limit: 9, cursor: null })).items).toEqual([])
})

test('a ledger whose key was dropped or widened is refused', async () => {
  const url = await server.newDatabase()
  const store = await open(url)
  await store.start()
  await runMysql(url, 'alter table paidonce_ledger drop key paidonce_ledger_key')
  await expect(store.start()).rejects.toMatchObject({
    code: 'database_refused',
    message: expect.stringMatching(/booked twice/) as string,
  })
  const refused = (await store.start().catch((error: unknown) => error)) as { hint: string }
  await runMysql(url, refused.hint)
  await store.start()
  await runMysql(url, 'alter table paidonce_ledger modify id_space varchar(64) not null')
  await expect(store.start()).rejects.toMatchObject({
    message: expect.stringMatching(/not VARBINARY/) as string,
  })
  await runMysql(url, 'alter table paidonce_ledger modify id_space varbinary(255) not null, engine = Aria')
  await expect(store.start()).rejects.toMatchObject({
    message: expect.stringMatching(/not InnoDB/) as string,
  })
})

test('the index of the key serves the read of a whole group', async () => {
  const url = await server.newDatabase()
  const store = await open(url)
  await store.start()
  const app = await connectTo(url)
  await app.query(`insert into paidonce_ledger (id_space, transaction_key, entry, network, transaction_id, user_id, amount, decision, created_at)
select 'n', concat('t', seq), 'credit', 'n', 't', 'u', 1, 'booked', now() from seq_1_to_5000`)
  const [plan] = await app.query(
    `explain select id from paidonce_ledger force index (paidonce_ledger_key)
where (id_space, transaction_key) in ((?, ?), (?, ?)) and entry in ('credit', 'reversal')`,
    ['n', 't7', 'n', 't4000'].map((text) => Buffer.from(text)),
  )
  app.destroy()
  expect(plan).toMatchObject([{ type: 'range', key: 'paidonce_ledger_key' }])
  expect(Number((plan as { rows: unknown }[])[0]?.rows)).toBeLessThan(20)
})

test('servers are judged by what they say of themselves', () => {
  const judge = (version: string, variables: Record<string, string> = {}): string[] =>
    judgeServer({
      version,
      sqlMode: 'STRICT_ALL_TABLES',
      variables: new Map(Object.entries({ innodb_flush_log_at_trx_commit: '1', ...variables })),
    })
      .filter(({ severity }) => severity !== 'ok')
      .map(({ check, severity }) => `${severity} ${check}`)
  expect(judge('10.11.19-MariaDB-0+deb12u1')).toEqual([])
  expect(judge('5.5.5-10.6.1-MariaDB')).toEqual([])
  expect(judge('8.0.36')).toEqual([])
  expect(judge('8.4.0-cluster')).toEqual([])
  expect(judge('10.5.29-MariaDB')).toEqual(['refuse version'])
  expect(judge('5.7.44-log')).toEqual(['refuse version'])
  expect(judge('8.0.11-TiDB-v7.5.0')).toEqual(['refuse version'])
  expect(judge('8.0.36', { super_read_only: 'ON' })).toEqual(['refuse read_only'])
  expect(judge('8.0.36', { sync_binlog: '0', log_bin: 'OFF' })).toEqual([])
  expect(judge('8.0.36', { sync_binlog: '0', log_bin: 'ON' })).toEqual(['warn sync_binlog'])
  expect(judge('8.0.36', { innodb_doublewrite: 'OFF', innodb_flush_log_at_trx_commit: '0' })).toEqual([
    'warn innodb_flush_log_at_trx_commit',
    'warn innodb_doublewrite',
  ])
})

test('a unique key that hashes is no key', () => {
  const definition = (kind: string): string => `CREATE TABLE \`paidonce_ledger\` (
  \`id_space\` varbinary(255) NOT NULL,
  \`transaction_key\` varbinary(767) NOT NULL,
  \`amount\` decimal(19,3) NOT NULL,
  UNIQUE KEY \`paidonce_ledger_key\` (\`id_space\`,\`transaction_key\`,\`entry\`)${kind},
) ENGINE=InnoDB`
  const refusals = (text: string): string[] =>
    judgeLedger(tableNames('`'), text, 3)
      .filter(({ severity }) => severity === 'refuse')
      .map(({ check }) => check)
  expect(refusals(definition(''))).toEqual([])
  expect(refusals(definition(' USING HASH'))).toEqual(['ledger_key'])
  expect(judgeTable('t', definition('')).severity).toBe('ok')
})

test('URLs are read exactly, and a bad one is not repeated', () => {
  expect(parseMysqlUrl('mariadb://us%40er:p%2Fw@[::1]:3307/my%20db?ssl=true')).toEqual({
    host: '::1',
    port: 3307,
    user: 'us@er',
    password: 'p/w',
    database: 'my db',
    ssl: true,
  })
  for (const url of [
    'postgres://u:secret@h/db',
    'mysql://u:secret@h',
    'mysql://u:secret@h/db?sslmode=secret',
    'nonsense secret',
  ]) {
    let message = ''
    try {
      parseMysqlUrl(url)
    } catch (error) {
      message = String(error)
    }
    expect(message).toMatch(/^PaidonceError/)
    expect(message).not.toMatch(/u:|secret/)
  }
})
