import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DIALECTS, type Database, type DialectServer } from '../dialects/index.js'
import { checkLedger, type Sent } from '../oracle/check-ledger.js'
import { startReceiverProcess, type ReceiverProcess } from './receiver-process.js'
import { SECRET, send, sharklioPath, type SharklioCall } from './sharklio-call.js'

type Arrival = 'credit' | 'copy' | 'other amount' | 'other user' | 'reversal' | 'late copy of the reversal'

const ARRIVALS: readonly Arrival[] = [
  'credit',
  'copy',
  'other amount',
  'other user',
  'reversal',
  'late copy of the reversal',
]

interface InboxItem {
  readonly id: string
  readonly outcome: string
  readonly entry: 'credit' | 'reversal'
  readonly user: string
  readonly amount: string
  readonly transactionId: string
  readonly answer: { readonly status: number; readonly body: string }
}

for (const bench of DIALECTS) {
  describe(`two receiver processes on one ${bench.name} database`, () => {
    let server: DialectServer
    let database: Database
    let receivers: ReceiverProcess[]
    beforeAll(async () => {
      server = await bench.start()
      database = await server.newDatabase()
      const config = {
        database: database.url,
        networks: { sharklio: { profile: 'sharklio', secret: SECRET } },
      }
      receivers = [await startReceiverProcess(config), await startReceiverProcess(config)]
      for (const user of ['ada', 'bob']) {
        expect((await (receivers[0] as ReceiverProcess).admin('PUT', `/wallets/${user}`)).status).toBe(201)
      }
    }, 90_000)
    afterAll(async () => {
      for (const receiver of receivers) await receiver.stop()
      await database.close()
      await server.stop()
    })
    const at = (index: number): string => (receivers[index % 2] as ReceiverProcess).base

    it('every order of six arrivals, one after another: each outcome is the one of the table', async () => {
      const orders = permutations(ARRIVALS, ARRIVALS.length)
      expect(orders).toHaveLength(720)
      await inBatches(orders, 8, async (order, index) => {
        const tx = `seq-${index}`
        for (const [step, arrival] of order.entries()) {
          expect(await send(at(index + step), sharklioPath(callOf(arrival, tx)))).toEqual({
            status: 200,
            body: 'OK',
          })
        }
        const outcomes = (await inbox(receivers[0] as ReceiverProcess, tx))
          .map((item) => item.outcome)
          .reverse()
        expect(outcomes, `${tx}: ${order.join(', ')}`).toEqual(expectedOutcomes(order))
      })
    }, 60_000)

    it('everything about one transaction at the same instant, over both: no answer contradicts the ledger', async () => {
      await inBatches(Array.from({ length: 40 }), 4, async (_, index) => {
        const tx = `par-${index}`
        const answers = await Promise.all(
          [...ARRIVALS, ...ARRIVALS].map((arrival, n) => send(at(n), sharklioPath(callOf(arrival, tx)))),
        )
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      })
    }, 60_000)

    it('twenty copies at once, ten to each: one credit, twenty times 200', async () => {
      for (let round = 0; round < 10; round += 1) {
        const call = sharklioPath({ tx: `twenty-${round}`, user: 'ada', reward: '7', status: '1' })
        const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send(at(n), call)))
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
        const outcomes = (await inbox(receivers[1] as ReceiverProcess, `twenty-${round}`)).map(
          (item) => item.outcome,
        )
        expect(outcomes.filter((outcome) => outcome === 'credited')).toHaveLength(1)
        expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(19)
      }
    }, 30_000)

    it('a hundred different credits of one user at once: none is lost', async () => {
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, n) =>
          send(at(n), sharklioPath({ tx: `hot-${n}`, user: 'bob', reward: '0.001', status: '1' })),
        ),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(100)
      const stored = await database.raw()
      expect(stored.entries.filter(({ key }) => key.startsWith('hot-'))).toHaveLength(100)
    }, 30_000)

    it('what cannot be believed, used or booked gets the answer of the table and no ledger row', async () => {
      const good = { tx: 'answers', user: 'ada', reward: '5', status: '1' } as const
      const path = sharklioPath(good)
      expect(await send(at(0), path.replace('reward=5', 'reward=50'))).toMatchObject({ status: 403 })
      expect(await send(at(0), path.replace(/&hash=.*/, ''))).toMatchObject({ status: 403 })
      expect(await send(at(0), `${path}&reward=5`)).toMatchObject({ status: 403 })
      expect(await send(at(0), sharklioPath({ ...good, reward: '1e3' }))).toMatchObject({ status: 400 })
      expect(await send(at(0), sharklioPath({ ...good, tx: '{transaction_id}' }))).toMatchObject({
        status: 400,
      })
      expect(await send(at(0), sharklioPath({ ...good, user: 'ghost' }))).toMatchObject({ status: 500 })
      expect(await send(at(0), path.replace('sharklio', 'nobody'))).toMatchObject({ status: 404 })
      expect((await fetch(at(0) + path, { method: 'HEAD' })).status).toBe(405)
      expect(
        await inbox(receivers[0] as ReceiverProcess, 'answers').then((items) =>
          items.filter((item) => item.outcome === 'credited'),
        ),
      ).toEqual([])
      const stored = await database.raw()
      expect(stored.entries.filter(({ key }) => key === 'answers')).toEqual([])
      expect(await send(at(0), path)).toEqual({ status: 200, body: 'OK' })
    })

    it('after all of it the ledger agrees with every answer that was given', async () => {
      const raw = await database.raw()
      expect(checkLedger(raw, await everythingSent(receivers[0] as ReceiverProcess))).toEqual([])
      const { body } = await (receivers[0] as ReceiverProcess).admin('GET', '/wallets/bob')
      expect(body).toMatchObject({ balance: decimal(raw.wallets.get('bob') ?? 0n) })
    }, 30_000)

    it('a killed receiver loses nothing that it answered, and the other goes on', async () => {
      const victim = await startReceiverProcess({
        database: database.url,
        networks: { sharklio: { profile: 'sharklio', secret: SECRET } },
      })
      const acknowledged: string[] = []
      let running = true
      const clients = Array.from({ length: 16 }, async (_, client) => {
        for (let n = 0; running; n += 1) {
          const tx = `kill-${client}-${n}`
          const answer = await send(
            victim.base,
            sharklioPath({ tx, user: 'ada', reward: '1', status: '1' }),
          ).catch(() => null)
          if (answer?.status === 200) acknowledged.push(tx)
          if (answer === null) return
        }
      })
      await pause(700)
      victim.signal('SIGKILL')
      running = false
      await Promise.all(clients)
      await victim.ended
      const standing = new Set((await database.raw()).entries.map(({ key }) => key))
      expect(acknowledged.length).toBeGreaterThan(10)
      expect(acknowledged.filter((tx) => !standing.has(tx))).toEqual([])
      const again = await Promise.all(
        acknowledged
          .slice(-20)
          .map((tx) => send(at(0), sharklioPath({ tx, user: 'ada', reward: '1', status: '1' }))),
      )
      expect(new Set(again.map(({ status }) => status))).toEqual(new Set([200]))
      const raw = await database.raw()
      expect(checkLedger(raw, await everythingSent(receivers[0] as ReceiverProcess))).toEqual([])
    }, 60_000)

    it('SIGTERM answers what is in flight and ends with 0', async () => {
      const leaving = await startReceiverProcess({
        database: database.url,
        networks: { sharklio: { profile: 'sharklio', secret: SECRET } },
      })
      const answers = Array.from({ length: 40 }, (_, n) =>
        send(leaving.base, sharklioPath({ tx: `term-${n}`, user: 'ada', reward: '1', status: '1' })).then(
          ({ status }) => status,
          () => 'refused' as const,
        ),
      )
      await pause(30)
      leaving.signal('SIGTERM')
      const statuses = await Promise.all(answers)
      expect(
        statuses.every((status) => status === 200 || status === 'refused'),
        statuses.join(),
      ).toBe(true)
      expect(await leaving.ended).toBe(0)
    }, 30_000)
  })
}

function callOf(arrival: Arrival, tx: string): SharklioCall {
  const credit = { tx, user: 'ada', reward: '5', status: '1' } as const
  switch (arrival) {
    case 'credit':
    case 'copy':
      return credit
    case 'other amount':
      return { ...credit, reward: '9' }
    case 'other user':
      return { ...credit, user: 'bob' }
    case 'reversal':
    case 'late copy of the reversal':
      return { ...credit, status: '2', event: 'another' }
  }
}

/** The table of the rule, told once more in the shortest words. */
function expectedOutcomes(order: readonly Arrival[]): string[] {
  let stored: 'nothing' | 'tombstone' | Arrival = 'nothing'
  let reversed = false
  return order.map((arrival) => {
    if (arrival === 'reversal' || arrival === 'late copy of the reversal') {
      if (reversed) return 'already_reversed'
      reversed = true
      if (stored !== 'nothing') return 'reversed'
      stored = 'tombstone'
      return 'tombstoned'
    }
    if (stored === 'tombstone') return 'tombstoned'
    if (stored === 'nothing') {
      stored = arrival
      return 'credited'
    }
    const same = JSON.stringify(callOf(stored, '')) === JSON.stringify(callOf(arrival, ''))
    return same ? 'duplicate' : 'conflict'
  })
}

function permutations<T>(items: readonly T[], length: number): T[][] {
  if (length === 0) return [[]]
  return items.flatMap((item) =>
    permutations(
      items.filter((other) => other !== item),
      length - 1,
    ).map((rest) => [item, ...rest]),
  )
}

async function inBatches<T>(
  items: readonly T[],
  size: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < items.length; start += size) {
    await Promise.all(items.slice(start, start + size).map((item, offset) => work(item, start + offset)))
  }
}

async function inbox(receiver: ReceiverProcess, transactionId: string): Promise<readonly InboxItem[]> {
  const { status, body } = await receiver.admin(
    'GET',
    `/postbacks?transactionId=${encodeURIComponent(transactionId)}&limit=500`,
  )
  expect(status).toBe(200)
  return (body as { items: InboxItem[] }).items
}

/** Every call that reached the ledger, by the inbox: what it asked for and what it was told. */
async function everythingSent(receiver: ReceiverProcess): Promise<Sent[]> {
  const sent: Sent[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { body } = await receiver.admin('GET', `/postbacks?network=sharklio&limit=500${query}`)
    const page = body as { items: InboxItem[]; nextCursor: string | null }
    for (const item of page.items) {
      if (item.answer.status === 403 || item.answer.status === 400) continue
      sent.push({
        postbackId: item.id,
        idSpace: 'sharklio',
        key: item.transactionId,
        entry: item.entry,
        user: item.user,
        amount: BigInt(item.amount.replace('.', '')),
        outcome: item.outcome,
      })
    }
    cursor = page.nextCursor
  } while (cursor !== null)
  return sent
}

function decimal(minor: bigint): string {
  const text = minor.toString().padStart(4, '0')
  return `${text.slice(0, -3)}.${text.slice(-3)}`
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
