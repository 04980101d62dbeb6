/**
 * The admin token's first day, and what a start warns of.
 */
import { describe, expect, it } from 'vitest'
import { adminFindings } from '../../src/server/admin-findings.js'
import { SILENT_LOGGER } from '../../src/server/logger.js'
import { startServer } from '../../src/server/server.js'
import { DEFAULT_SETTINGS } from '../../src/server/settings.js'
import { memoryStore } from '../../src/stores/memory/index.js'
import { run, SECRET, TOKEN } from './running.js'

const settings = { ...DEFAULT_SETTINGS, port: 0, networks: { demo: { profile: 'sharklio', secret: SECRET } } }

describe('the admin token', () => {
  it.each(['port', 'adminPort'] as const)(
    'is not used up by a start that finds its %s taken',
    async (key) => {
      const other = await run()
      const taken = Number(new URL(other.url).port)
      const store = memoryStore()
      const failing = startServer(
        { ...settings, [key]: taken },
        { store: memoryStore({ shareWith: store }), logger: SILENT_LOGGER },
      )
      await expect(failing).rejects.toMatchObject({ code: 'port_in_use' })
      const server = await run({ adminToken: null }, { store: memoryStore({ shareWith: store }) })
      expect(server.adminTokenOrigin).toBe('generated')
      const headers = { authorization: `Bearer ${server.adminToken ?? ''}` }
      expect((await fetch(`${server.adminUrl}/api/v1/wallets`, { headers })).status).toBe(200)
    },
  )

  it('is waited for with 503 while its port is open already', async () => {
    const store = memoryStore()
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    let claiming = (): void => undefined
    const claimed = new Promise<void>((resolve) => (claiming = resolve))
    const slow = {
      ...store,
      claimSetting: async (name: string, value: string): Promise<string> => {
        if (name === 'admin_token_hash') {
          claiming()
          await held
        }
        return store.claimSetting(name, value)
      },
    }
    const other = await run()
    const port = Number(new URL(other.url).port)
    await other.close({ delaySeconds: 0 })
    const starting = run({ adminToken: null, port }, { store: slow })
    await claimed
    const url = `http://127.0.0.1:${port}`
    const headers = { authorization: 'Bearer anything' }
    expect((await fetch(`${url}/api/v1/wallets`, { headers })).status).toBe(503)
    expect((await fetch(`${url}/api/v1/wallets`)).status).toBe(401)
    expect((await fetch(`${url}/metrics`)).status).toBe(200)
    release()
    const server = await starting
    expect((await fetch(`${url}/api/v1/wallets`, { headers })).status).toBe(401)
    expect(server.adminToken).not.toBeNull()
  })

  it('is said to be the earlier one at later starts', async () => {
    const store = memoryStore()
    const first = await run({ adminToken: null }, { store })
    const line =
      'The admin token is as printed at the first start; to set another one, set PAIDONCE_ADMIN_TOKEN.'
    expect(first.log.map(({ message }) => message)).not.toContain(line)
    const second = await run({ adminToken: null }, { store: memoryStore({ shareWith: store }) })
    expect(second).toMatchObject({ adminToken: null, adminTokenOrigin: 'kept' })
    expect(second.log.map(({ message }) => message)).toContain(line)
    const third = await run({ adminToken: TOKEN }, { store: memoryStore({ shareWith: store }) })
    expect(third).toMatchObject({ adminToken: null, adminTokenOrigin: 'given' })
    expect(third.log.map(({ message }) => message)).not.toContain(line)
  })
})

describe('adminFindings', () => {
  const warned = (changes: object): string[] =>
    adminFindings({ ...DEFAULT_SETTINGS, ...changes })
      .filter(({ severity }) => severity === 'warn')
      .map(({ check }) => check)

  it.each([
    [{}, []],
    [{ adminToken: 'x'.repeat(20) }, []],
    [{ adminToken: 'x'.repeat(19) }, ['admin_token']],
    [{ host: 'localhost' }, []],
    [{ host: '::1' }, []],
    [{ host: '127.8.8.8' }, []],
    [{ host: '0.0.0.0' }, ['admin_address']],
    [{ host: '::' }, ['admin_address']],
    [{ host: '10.0.0.5', adminPort: 9000 }, ['admin_address']],
    [{ host: '127.evil.example' }, ['admin_address']],
    [{ host: 'pay.internal', adminToken: 'short' }, ['admin_token', 'admin_address']],
  ])('%j: %j', (changes, checks) => {
    expect(warned(changes)).toEqual(checks)
  })

  it('never shows the token, and has a cure for each', () => {
    const findings = adminFindings({ ...DEFAULT_SETTINGS, host: '0.0.0.0', adminToken: 'geheim' })
    expect(JSON.stringify(findings)).not.toContain('geheim')
    expect(findings.every(({ cure }) => cure !== null)).toBe(true)
  })

  it('are logged at the start', async () => {
    const server = await run({ adminToken: 'short' })
    const line = server.log.find(({ facts }) => facts['check'] === 'admin_token')
    expect(line).toMatchObject({ level: 'warn', message: expect.stringContaining('20') as string })
  })
})
