/**
 * The life of the idempotency key; identifiers: case, accents, length, types.
 */
import { expect } from 'vitest'
import { viaPort } from '../dialects/dialect.js'
import { looksLikeCommit, startCutProxy } from '../servers/cut-proxy.js'
import { metric, sendRaw } from '../server/running.js'
import type { Bench } from './bench.js'
import { bodyCall, credit, rawCall, type Call } from './calls.js'
import { checkInvariants } from './check-invariants.js'
import { openBenches } from './define-case.js'
import { exchange } from './exchange.js'
import { holdWallet } from './hold.js'
import { startProcess, type ServerProcess } from './start-process.js'

const testCase = openBenches()

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

testCase('C23', 'same key, other amount', async (bench) => {
  await bench.addUsers('c23')
  const first = credit('raw', 'C23', 'c23', '100')
  await bench.send(first)
  expect((await bench.send(credit('raw', 'C23', 'c23', '900'))).status).toBe(200)
  await bench.send(first)
  expect(await bench.balance('c23')).toBe('100.000')
  expect(await bench.outcomes('C23', 3)).toEqual(['credited', 'conflict', 'duplicate'])
  const { json } = await bench.api('GET', '/transactions/raw/C23')
  expect(json.entries).toMatchObject([{ entry: 'credit', amount: '100.000' }])
  const flagged = json.postbacks.filter(({ open }) => open)
  expect(flagged).toMatchObject([{ outcome: 'conflict', reason: 'other_amount', amount: '900.000' }])
})

testCase('C25', 'first attempt crashed, key stays "in progress"', async (bench) => {
  await bench.addUsers('c25')
  const call = credit('raw', 'C25', 'c25', '80')
  await crashAtCommit(bench, call)
  expect(await bench.balance('c25')).toBe('0.000')
  const { url } = await bench.serve()
  // There is no lease that a minute could outlast: the first call after the restart is booked.
  await bench.send(call, { to: url })
  await pause(1_000)
  await bench.send(call, { to: url })
  expect(await bench.balance('c25')).toBe('80.000')
  expect(await bench.outcomes('C25', 2)).toEqual(['credited', 'duplicate'])
})

/** A receiver of its own dies by SIGKILL when the entry is written and its COMMIT is not. */
async function crashAtCommit(bench: Bench, call: Call): Promise<void> {
  const receivers: ServerProcess[] = []
  const { port } = bench.dialect
  if (port === null) {
    receivers.push(await startProcess(bench.settings, 'at-commit'))
    await sendIntoCrash(receivers, call)
    return
  }
  const isCommit = (bytes: Buffer): boolean => {
    const found = looksLikeCommit(bytes)
    if (found) for (const receiver of receivers) receiver.kill9()
    return found
  }
  const proxy = await startCutProxy({ port, isCommit })
  receivers.push(await startProcess({ ...bench.settings, database: viaPort(bench.database.url, proxy.port) }))
  proxy.set('drop-commit')
  await sendIntoCrash(receivers, call)
  expect(proxy.fired).toBeGreaterThan(0)
  await proxy.stop()
}

async function sendIntoCrash(receivers: readonly ServerProcess[], call: Call): Promise<void> {
  for (const { url, ended } of receivers) {
    await expect(exchange(url, call)).rejects.toThrow(/socket hang up|ECONNRESET/)
    expect(await ended).toBe('SIGKILL')
  }
}

testCase('C27', 'lock shorter than the work', async (bench) => {
  await bench.addUsers('c27')
  const call = credit('raw', 'C27', 'c27', '10')
  const release = await holdWallet(bench, 'c27')
  const replies = Promise.all(
    [0, 2_000, 4_000, 8_000].map(async (after) => {
      await pause(after)
      return (await bench.send(call, { may5xx: true })).status
    }),
  )
  await pause(6_500)
  await release()
  const [first, second, third, last] = await replies
  expect([first, second, last]).toEqual([503, 503, 200])
  // It rides with the second, and may be asked to come again when the time of that one is over.
  expect([200, 503]).toContain(third)
  expect(await bench.balance('c27')).toBe('10.000')
  expect((await bench.entries('c27')).length).toBe(1)
})

// The result of each item in one answer needs JSON batches; here each item has its own answer in one transaction.
testCase('C29', 'twice in one batch', async (bench) => {
  await bench.addUsers('c29')
  const [first, second] = [credit('raw', 'C29-7', 'c29', '10'), credit('raw', 'C29-8', 'c29', '20')]
  const replies = await bench.par([first, second, first])
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(await bench.outcomes('C29-7', 2)).toEqual(['credited', 'duplicate'])
  expect(await bench.outcomes('C29-8', 1)).toEqual(['credited'])
  expect(await bench.balance('c29')).toBe('30.000')
})

testCase('C31', 'blank id', async (bench) => {
  await bench.addUsers('c31')
  const ids = ['tx=', 'tx=', '', 'tx=%20%20', 'tx=%00', 'tx=null', 'tx=undefined']
  for (const id of ids) {
    const { status } = await bench.send(rawCall(`user_id=c31&${id}&amount=10&status=1`.replace('&&', '&')))
    expect([id, status]).toEqual([id, 400])
  }
  const refused = await bench.inbox({ user: 'c31', outcome: 'malformed', open: 'true' }, ids.length)
  expect(refused.map(({ reason }) => reason)).toEqual([
    'transaction_id_empty',
    'transaction_id_empty',
    'missing_parameter: tx',
    'transaction_id_blank',
    'transaction_id_control_character',
    'transaction_id_placeholder: null',
    'transaction_id_placeholder: undefined',
  ])
  await bench.send(rawCall('user_id=c31&tx=0&amount=10&status=1'))
  await bench.send(rawCall('user_id=c31&tx=0&amount=10&status=1'))
  expect(await bench.outcomes('0', 2)).toEqual(['credited', 'duplicate'])
  expect(await bench.balance('c31')).toBe('10.000')
})

testCase('C33', 'NULL in the unique key', async (bench) => {
  await bench.addUsers('c33')
  const query = 'user_id=c33&tx=C33&amount=10&status=1'
  await bench.par(Array.from({ length: 20 }, () => rawCall(query, 'events')))
  await bench.send(rawCall(`${query}&event=`, 'events'))
  expect(await bench.balance('c33')).toBe('10.000')
  expect((await bench.outcomes('C33', 21)).sort().slice(0, 2)).toEqual(['credited', 'duplicate'])
  // Another event of the same id is another payment.
  await bench.send(rawCall(`${query}&event=level-2`, 'events'))
  expect(await bench.balance('c33')).toBe('20.000')
})

testCase('C34', 'ids that differ only in letter case', async (bench) => {
  await bench.addUsers('c34-1', 'c34-2', 'c34-3')
  await bench.send(credit('raw', 'aBcD34', 'c34-1', '10'))
  await bench.send(credit('raw', 'ABCD34', 'c34-2', '20'))
  await bench.send(credit('raw', 'abcd34', 'c34-3', '30'))
  const balances = await Promise.all(['c34-1', 'c34-2', 'c34-3'].map((user) => bench.balance(user)))
  expect(balances).toEqual(['10.000', '20.000', '30.000'])
})

testCase('C36', 'accents ignored', async (bench) => {
  await bench.addUsers('c36-jose', 'c36-josé')
  await bench.send(credit('raw', 'C36-n1', 'c36-josé', '10'))
  await bench.send(credit('raw', 'C36-ñ1', 'c36-jose', '20'))
  expect([await bench.balance('c36-josé'), await bench.balance('c36-jose')]).toEqual(['10.000', '20.000'])
})

testCase('C38', 'long ids cut off', async (bench) => {
  await bench.addUsers('c38')
  const refused = [`${'x'.repeat(299)}a`, `${'x'.repeat(299)}b`, 'y'.repeat(1_000), 'z'.repeat(10_000)]
  for (const tx of refused) expect((await bench.send(credit('raw', tx, 'c38', '1'))).status).toBe(400)
  const rows = await bench.inbox({ user: 'c38', open: 'true' }, refused.length)
  expect(new Set(rows.map(({ reason }) => reason))).toEqual(new Set(['transaction_id_too_long']))
  expect(await bench.balance('c38')).toBe('0.000')
  await sendLongest(bench, 's', bench.server.url)
  await withLenientServer(bench, (url) => sendLongest(bench, 'l', url))
  const stored = (await bench.entries('c38')).map(({ transactionId }) => transactionId?.length)
  expect(new Set(stored)).toEqual(new Set([255]))
})

/** The longest ids, equal but for their last letter, are two payments. */
async function sendLongest(bench: Bench, letter: string, url: string): Promise<void> {
  const before = (await bench.entries('c38')).length
  for (const last of ['a', 'b']) {
    await bench.send(credit('raw', letter.repeat(254) + last, 'c38', '1'), { to: url })
  }
  expect((await bench.entries('c38')).length).toBe(before + 2)
}

/** MySQL cuts what is too long where strict mode is off, which is tried on a server of the tests' own. */
async function withLenientServer(bench: Bench, run: (url: string) => Promise<void>): Promise<void> {
  if (bench.name !== 'mysql' || (process.env['PAIDONCE_TEST_MYSQL_URL'] ?? '') !== '') return
  await bench.query("set @@global.sql_mode = ''")
  await run((await bench.serve()).url)
  await bench.query('set @@global.sql_mode = default')
}

testCase('C40', 'leading zeros matter', async (shared) => {
  await shared.addUsers('1234', '001234')
  await shared.send(credit('raw', 'C40', '001234', '10'))
  expect([await shared.balance('1234'), await shared.balance('001234')]).toEqual(['0.000', '10.000'])

  const wallets = { table: 'c40_users', id: 'id', balance: 'coins' }
  const changes = { wallets, amountScale: 0, unknownUser: 'hold' } as const
  const bench = await shared.fresh(changes, async (rows) => {
    await rows.query('create table c40_users (id bigint not null primary key, coins bigint not null)')
    await rows.query('insert into c40_users values (1234, 0)')
  })
  expect((await bench.send(credit('raw', 'C40-1', '001234', '10'))).status).toBe(200)
  const held = await bench.inbox({ outcome: 'held', open: 'true' }, 1)
  expect(held).toMatchObject([{ user: '001234', reason: 'unknown_user' }])
  expect(await bench.balance('1234')).toBe('0')
  await bench.send(credit('raw', 'C40-2', '1234', '7'))
  expect(await bench.balance('1234')).toBe('7')
  await checkInvariants(bench)
})

testCase('C42', 'NUL byte', async (bench) => {
  await bench.addUsers('c42')
  const query = 'user_id=c42&tx=C42-1&amount=10&status=1'
  await bench.send(rawCall(`${query}&offer=Win%00Big`))
  await bench.send(bodyCall('{"user_id":"c42","tx":"C42-2","amount":10,"offer":"Win\\u0000Big"}'))
  const offers = (await bench.entries('c42')).map(({ offer }) => offer)
  expect(offers).toEqual(['Win\ufffdBig', 'Win\ufffdBig'])
  for (const call of [
    rawCall(query.replace('C42-1', 'C42%00')),
    bodyCall('{"user_id":"c42","tx":"C42\\u0000","amount":10}'),
  ]) {
    expect((await bench.send(call)).status).toBe(400)
  }
  const refused = await bench.inbox({ user: 'c42', outcome: 'malformed', open: 'true' }, 2)
  expect(new Set(refused.map(({ reason }) => reason))).toEqual(new Set(['transaction_id_control_character']))
  // A NUL in a header is no HTTP: it is turned away before there is a call to keep, and counted.
  const lost = 'paidonce_lost_before_parsing_total'
  const before = Number(await metric(bench.server, lost))
  const { target } = rawCall(query)
  const answer = await sendRaw(
    bench.server.url,
    `GET ${target} HTTP/1.1\r\nHost: x\r\nUser-Agent: a\0b\r\n\r\n`,
  )
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(await metric(bench.server, lost)).toBe(before + 1)
  expect(await bench.balance('c42')).toBe('20.000')
})
