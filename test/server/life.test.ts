import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SILENT_LOGGER } from '../../src/server/logger.js'
import { startServer } from '../../src/server/server.js'
import { DEFAULT_SETTINGS } from '../../src/server/settings.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { run, sendRaw, signed, SECRET } from './running.js'

const quick = { delaySeconds: 0 }

describe('stopping', () => {
  it('is unready at once, serves on with Connection: close, then answers what runs', async () => {
    const server = await run()
    await server.store.createWallet('u1')
    const closing = server.close({ delaySeconds: 1 })
    const ready = await fetch(`${server.url}/readyz`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ reason: 'shutting_down' })
    const late = await fetch(`${server.url}/postback/demo?${signed('t1', 'u1', '1')}`)
    expect(late.status).toBe(200)
    expect(late.headers.get('connection')).toBe('close')
    await closing
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow()
    expect((await server.store.readWallet('u1'))?.balance).toBe(1000n)
  })

  it('waits for a call in flight, and closes receiver and store after it', async () => {
    const order: string[] = []
    const inner = memoryStore()
    const store = {
      ...inner,
      close: () => {
        order.push('store')
        return Promise.resolve()
      },
    }
    const server = await run({}, { store })
    const handle = server.receiver.handle.bind(server.receiver)
    const close = server.receiver.close.bind(server.receiver)
    server.receiver.handle = async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 400))
      order.push('answer')
      return handle(request)
    }
    server.receiver.close = async () => {
      order.push('receiver')
      await close()
    }
    await server.store.createWallet('u1')
    const call = fetch(`${server.url}/postback/demo?${signed('t1', 'u1', '1')}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
    await server.close(quick)
    expect((await call).status).toBe(200)
    expect(order).toEqual(['answer', 'receiver', 'store'])
  })

  it('does not wait for a connection that was never used', async () => {
    const server = await run()
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    const startedAt = Date.now()
    await server.close(quick)
    expect(Date.now() - startedAt).toBeLessThan(2000)
  })

  it('stops once however often it is told to', async () => {
    const server = await run()
    expect(server.close(quick)).toBe(server.close(quick))
    await server.close()
  })
})

describe('what stops a start', () => {
  const settings = {
    ...DEFAULT_SETTINGS,
    port: 0,
    networks: { demo: { profile: 'sharklio', secret: SECRET } },
  }

  it('names the port that is taken, and leaves nothing open', async () => {
    const first = await run()
    const port = Number(new URL(first.url).port)
    let closed = false
    const store = {
      ...memoryStore(),
      close: () => {
        closed = true
        return Promise.resolve()
      },
    }
    const second = startServer({ ...settings, port }, { store, logger: SILENT_LOGGER })
    await expect(second).rejects.toMatchObject({
      code: 'port_in_use',
      message: `Port ${port} on 127.0.0.1 is in use by another process.`,
      hint: expect.stringContaining('--port') as string,
    })
    expect(closed).toBe(true)
  })

  it('refuses another ledger than the configured one', async () => {
    const store = memoryStore()
    const first = await run({}, { store })
    const ledgerId = first.ledgerId
    await run({ ledgerId }, { store: memoryStore({ shareWith: store }) })
    const other = startServer(
      { ...settings, ledgerId: 'another' },
      { store: memoryStore({ shareWith: store }), logger: SILENT_LOGGER },
    )
    await expect(other).rejects.toMatchObject({ code: 'ledger_mismatch' })
    await expect(other).rejects.toThrow(`ledgerId is "another", but this database is "${ledgerId ?? ''}".`)
  })

  it('misses a network that has entries', async () => {
    const store = memoryStore()
    const first = await run({}, { store })
    await store.createWallet('u1')
    await fetch(`${first.url}/postback/demo?${signed('t1', 'u1', '1')}`)
    const renamed = (formerly: string[]): ReturnType<typeof startServer> =>
      startServer(
        { ...settings, networks: { other: { profile: 'sharklio', secret: SECRET, formerly } } },
        { store: memoryStore({ shareWith: store }), logger: SILENT_LOGGER },
      )
    await expect(renamed([])).rejects.toMatchObject({ code: 'network_missing' })
    const server = await renamed(['demo'])
    onTestFinished(() => server.close(quick))
    await fetch(`${server.url}/postback/other?${signed('t1', 'u1', '1')}`)
    expect((await store.readWallet('u1'))?.balance).toBe(1000n)
  })

  it.each(['failed', 'overloaded', 'unknown_user'])('refuses to lose %s unless told to', async (outcome) => {
    const demo = { ...settings.networks.demo, answers: { [outcome]: { status: 200, body: 'OK' } } }
    const start = (more: object): ReturnType<typeof startServer> =>
      startServer(
        { ...settings, networks: { demo: { ...demo, ...more } } },
        { store: memoryStore(), logger: SILENT_LOGGER },
      )
    await expect(start({})).rejects.toMatchObject({ code: 'config_invalid' })
    await (await start({ acceptLoss: true })).close(quick)
  })

  it('refuses a profile that nobody knows', async () => {
    const networks = { demo: { profile: 'sharkli', secret: SECRET } }
    const start = startServer({ ...settings, networks }, { store: memoryStore(), logger: SILENT_LOGGER })
    await expect(start).rejects.toThrow('networks.demo.profile is "sharkli"')
  })
})

it('runs on the store that the database URL names', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'paidonce-server-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const database = `sqlite:${join(folder, 'data', 'paidonce.db')}`
  const settings = {
    ...DEFAULT_SETTINGS,
    port: 0,
    database,
    networks: { demo: { profile: 'sharklio', secret: SECRET } },
  }
  const first = await startServer(settings, { logger: SILENT_LOGGER })
  expect(first.adminToken).toBeTruthy()
  await first.store.createWallet('u1')
  const query = signed('t1', 'u1', '2.5')
  expect((await fetch(`${first.url}/postback/demo?${query}`)).status).toBe(200)
  await first.close(quick)

  const second = await startServer(settings, { logger: SILENT_LOGGER })
  onTestFinished(() => second.close(quick))
  expect(second.adminToken).toBeNull()
  expect(second.ledgerId).toBe(first.ledgerId)
  expect(await sendRaw(second.url, `GET /postback/demo?${query} HTTP/1.0\r\n\r\n`)).toMatch(/ 200 OK/)
  expect(await second.store.readWallet('u1')).toEqual({ user: 'u1', balance: 2500n })
})
