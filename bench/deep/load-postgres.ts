/**
 * Fills a migrated Paidonce database on PostgreSQL.
 *
 * @module
 */
import pg from 'pg'
import { selectInbox, selectLedger, selectWallets, WALLETS, type Shape, type Words } from './shape.js'
import type { LoadOptions } from './options.js'

const WORDS: Words = {
  div: (a, b) => `(${a} / ${b})`,
  concat: (...parts) => `(${parts.join(' || ')})`,
  hex: (value, digits) => `lpad(to_hex(${value}), ${digits}, '0')`,
  padded: (value, digits) => `lpad((${value})::text, ${digits}, '0')`,
  time: (milliseconds) => `to_timestamp(${milliseconds} / 1000.0)`,
  uuid: (digits) => `(${digits})::uuid`,
  bytes: (text) => `convert_to(${text}, 'UTF8')`,
  flag: (value) => String(value),
  coins: (whole) => `(${whole})::numeric`,
  fence: 'offset 0',
}

/** Both tables at once, each on a connection of its own; indexes are built afterwards, which is several times faster. */
export async function loadPostgres(url: string, options: LoadOptions): Promise<void> {
  const { rows, inbox = true, newest = Date.now() } = options
  const shape: Shape = { words: WORDS, rows, newest }
  const numbers = (to: number, name: string): string =>
    `(select n::bigint as ${name} from generate_series(1, ${to}) n)`
  await withClient(url, async (client) => {
    await client.query('truncate paidonce_ledger, paidonce_wallets, paidonce_postbacks')
    await client.query(
      `insert into paidonce_wallets (user_id, balance) ${selectWallets(shape, numbers(WALLETS, 'w'))}`,
    )
  })
  await Promise.all([
    fill(url, 'paidonce_ledger', selectLedger(shape, numbers(rows, 'l'))),
    ...(inbox ? [fill(url, 'paidonce_postbacks', selectInbox(shape, numbers(rows, 'i')))] : []),
  ])
  await withClient(url, async (client) => {
    await client.query(`select setval(pg_get_serial_sequence('paidonce_ledger', 'id'), ${rows})`)
  })
}

async function fill(url: string, table: string, select: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rows: built } = await client.query<{ drop: string; make: string }>(
      `select case when c.conname is null then format('drop index %s', i.indexrelid::regclass)
    else format('alter table %s drop constraint %I', i.indrelid::regclass, c.conname) end as drop,
  case when c.conname is null then pg_get_indexdef(i.indexrelid)
    else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) end as make
from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
where i.indrelid = $1::regclass order by i.indexrelid`,
      [table],
    )
    for (const { drop } of built) await client.query(drop)
    const { fields } = await client.query(`${select} limit 0`)
    const columns = fields.map(({ name }) => name).join(', ')
    await client.query(`insert into ${table} (${columns}) ${select}`)
    for (const { make } of built) await client.query(make)
    await client.query(`vacuum (analyze) ${table}`)
  })
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query(`set synchronous_commit = off; set maintenance_work_mem = '512MB'; set jit = off`)
    await work(client)
  } finally {
    await client.end()
  }
}
