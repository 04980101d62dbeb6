import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DIALECTS } from '../dialects/index.js'
import { startMariadb } from '../servers/mariadb.js'
import { startPostgres } from '../servers/postgres.js'
import { startReceiverProcess, type ReceiverProcess } from './receiver-process.js'
import { SECRET, send, sharklioPath } from './sharklio-call.js'

/** The publisher's own program: its table, and the ways in which it changes a balance beside us. */
interface App {
  readonly url: string
  /** Adds one coin in one statement. */
  readonly earn: (user: string) => Promise<void>
  /** Reads under the row's lock, computes, writes back: half a coin less. */
  readonly spend: (user: string) => Promise<void>
  /** Coins as the column holds them, as text. */
  readonly coins: (user: string) => Promise<string>
  /** Sum of our ledger's entries for a user, as text. */
  readonly ledger: (user: string) => Promise<string>
  readonly close: () => Promise<void>
}

const USERS = ['ada', 'Ada', 'josé', '001']

const APPS: readonly { readonly name: 'mysql' | 'postgres'; readonly open: () => Promise<App> }[] = [
  { name: 'mysql', open: openMariadbApp },
  { name: 'postgres', open: openPostgresApp },
]

for (const { name, open } of APPS.filter((app) => DIALECTS.some((dialect) => dialect.name === app.name))) {
  describe(`the publisher's own users table on ${name}, used by its own program meanwhile`, () => {
    let app: App
    let receivers: ReceiverProcess[]
    beforeAll(async () => {
      app = await open()
      const config = {
        database: app.url,
        wallets: { table: 'users', id: 'id', balance: 'coins' },
        networks: { sharklio: { profile: 'sharklio', secret: SECRET, paths: ['/postback.php'] } },
      }
      receivers = [await startReceiverProcess(config), await startReceiverProcess(config)]
    }, 90_000)
    afterAll(async () => {
      for (const receiver of receivers) await receiver.stop()
      await app.close()
    })

    it('stays right to the coin', async () => {
      const moved = new Map(USERS.map((user) => [user, 0]))
      let running = true
      const program = USERS.map(async (user, index) => {
        for (let turn = 0; running; turn += 1) {
          if ((turn + index) % 3 === 0) await app.spend(user)
          else await app.earn(user)
          moved.set(user, (moved.get(user) ?? 0) + ((turn + index) % 3 === 0 ? -500 : 1_000))
        }
      })
      const statuses = new Map<number, number>()
      const deliver = async (path: string, index: number): Promise<void> => {
        // A network sends again whatever was not answered 200.
        for (let attempt = 0; attempt < 10; attempt += 1) {
          const { status } = await send((receivers[(index + attempt) % 2] as ReceiverProcess).base, path)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          if (status === 200) return
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
        throw new Error(`${path} was never answered 200.`)
      }
      const calls = Array.from({ length: 400 }, (_, n) => {
        const credit = { tx: `t${n}`, user: USERS[n % 4] as string, reward: '2.125', status: '1' } as const
        const reversal = { ...credit, status: '2' } as const
        return n % 4 === 3 || n % 10 === 0 ? [credit, credit, reversal, reversal] : [credit, credit]
      })
      await Promise.all(
        Array.from({ length: 16 }, async (_, client) => {
          for (let n = client; n < calls.length; n += 16) {
            await Promise.all((calls[n] ?? []).map((call, copy) => deliver(sharklioPath(call), n + copy)))
          }
        }),
      )
      running = false
      await Promise.all(program)
      for (const user of USERS) {
        const ledger = minor(await app.ledger(user))
        expect(minor(await app.coins(user)), user).toBe(ledger + (moved.get(user) ?? 0))
      }
      expect(moved.get('ada')).not.toBe(0)
      expect(statuses.get(200)).toBe(calls.flat().length)
    }, 60_000)

    it('ids that the column would take for equal are different users', async () => {
      const before = await app.coins('ada')
      expect(
        (
          await send(
            (receivers[0] as ReceiverProcess).base,
            sharklioPath({ tx: 'x1', user: 'ADA', reward: '1', status: '1' }),
          )
        ).status,
      ).toBe(500)
      expect(
        (
          await send(
            (receivers[0] as ReceiverProcess).base,
            sharklioPath({ tx: 'x2', user: 'ada ', reward: '1', status: '1' }),
          )
        ).status,
      ).toBe(500)
      expect(
        (
          await send(
            (receivers[0] as ReceiverProcess).base,
            sharklioPath({ tx: 'x3', user: '1', reward: '1', status: '1' }),
          )
        ).status,
      ).toBe(500)
      expect(await app.coins('ada')).toBe(before)
    })

    it('the old URL goes on working', async () => {
      const path = sharklioPath({ tx: 'php', user: 'ada', reward: '1', status: '1' }).replace(
        '/postback/sharklio',
        '/postback.php',
      )
      expect(await send((receivers[1] as ReceiverProcess).base, path)).toEqual({ status: 200, body: 'OK' })
    })

    it('movements of the program are no fault in the audit', async () => {
      const receiver = receivers[0] as ReceiverProcess
      await receiver.admin('POST', '/audit')
      for (;;) {
        const { body } = await receiver.admin('GET', '/audit')
        const audit = body as { finishedAt: string | null; findings: { severity: string; check: string }[] }
        if (audit.finishedAt !== null) {
          expect(audit.findings.filter((finding) => finding.severity === 'error')).toEqual([])
          return
        }
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    })
  })
}

function minor(decimal: string): number {
  return Math.round(Number(decimal) * 1_000)
}

async function openMariadbApp(): Promise<App> {
  const server = await startMariadb()
  const url = await server.newDatabase()
  const pool = mysql.createPool({ uri: url, charset: 'utf8mb4', connectionLimit: 8 })
  // Its collation pads with spaces; a case-insensitive one could not hold both Adas.
  await pool.query(
    'create table users (id varchar(64) character set utf8mb4 collate utf8mb4_bin primary key, coins decimal(19,3) not null default 0)',
  )
  for (const user of USERS) await pool.query('insert into users (id) values (?)', [user])
  const text = async (sql: string, values: unknown[]): Promise<string> => {
    const [rows] = await pool.query<mysql.RowDataPacket[]>(sql, values)
    return String(rows[0]?.['value'] ?? '0')
  }
  return {
    url,
    earn: async (user) => {
      await pool.query('update users set coins = coins + 1 where id = ?', [user])
    },
    spend: async (user) => {
      const connection = await pool.getConnection()
      try {
        await connection.beginTransaction()
        const [rows] = await connection.query<mysql.RowDataPacket[]>(
          'select coins from users where id = ? for update',
          [user],
        )
        await connection.query('update users set coins = ? where id = ?', [
          (Number(rows[0]?.['coins']) - 0.5).toFixed(3),
          user,
        ])
        await connection.commit()
      } finally {
        connection.release()
      }
    },
    coins: (user) => text('select coins as value from users where id = ?', [user]),
    ledger: (user) =>
      text('select sum(amount) as value from paidonce_ledger where user_id = ?', [Buffer.from(user)]),
    close: async () => {
      await pool.end()
      await server.stop()
    },
  }
}

async function openPostgresApp(): Promise<App> {
  const server = await startPostgres()
  const url = await server.newDatabase()
  const pool = new pg.Pool({ connectionString: url, max: 8 })
  pool.on('error', () => undefined)
  await pool.query('create table users (id varchar(64) primary key, coins numeric(19,3) not null default 0)')
  for (const user of USERS) await pool.query('insert into users (id) values ($1)', [user])
  const text = async (sql: string, values: unknown[]): Promise<string> => {
    const { rows } = await pool.query<{ value: string | null }>(sql, values)
    return rows[0]?.value ?? '0'
  }
  return {
    url,
    earn: async (user) => {
      await pool.query('update users set coins = coins + 1 where id = $1', [user])
    },
    spend: async (user) => {
      const client = await pool.connect()
      try {
        await client.query('begin')
        const { rows } = await client.query<{ coins: string }>(
          'select coins from users where id = $1 for update',
          [user],
        )
        await client.query('update users set coins = $1 where id = $2', [
          (Number(rows[0]?.coins) - 0.5).toFixed(3),
          user,
        ])
        await client.query('commit')
      } finally {
        client.release()
      }
    },
    coins: (user) => text('select coins::text as value from users where id = $1', [user]),
    ledger: (user) =>
      text('select sum(amount)::text as value from paidonce_ledger where user_id = $1', [user]),
    close: async () => {
      await pool.end()
      await server.stop()
    },
  }
}
