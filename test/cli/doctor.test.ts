import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { describeServer } from '../../src/cli/start-text.js'
import { loadSettings } from '../../src/server/config.js'
import { cli, makeFolder } from './cli-run.js'

let folder: ReturnType<typeof makeFolder>
beforeEach(() => {
  folder = makeFolder()
})
afterEach(() => {
  folder.remove()
})

function configure(networks: object, more: object = {}): void {
  const config = { database: `sqlite:${join(folder.path, 'd.db')}`, ...more, networks }
  writeFileSync(join(folder.path, 'paidonce.config.json'), JSON.stringify(config))
}

const WALL = { profile: 'sharklio', secret: { env: 'WALL_KEY' }, paths: ['/old/wall.php'] }

describe('doctor', () => {
  it('prints the rest where a secret is missing, one refusal for each', async () => {
    configure({ wall: WALL, other: { profile: 'sharklio', secret: { env: 'OTHER_KEY' } } })
    const migrated = { WALL_KEY: 'k', OTHER_KEY: 'k' }
    expect((await cli(folder.path, ['migrate'], migrated)).code).toBe(0)
    for (const env of [{}, { WALL_KEY: '', OTHER_KEY: ' x' }]) {
      const { code, stdout } = await cli(folder.path, ['doctor'], env)
      expect(code).toBe(1)
      expect(stdout).toMatch(/^SETTING/)
      expect(stdout).toMatch(/refuse {2}networks\.wall\.secret: .*WALL_KEY/)
      expect(stdout).toMatch(/refuse {2}networks\.other\.secret: .*OTHER_KEY/)
      expect(stdout).toContain('database_clock')
    }
    expect((await cli(folder.path, ['doctor'], migrated)).code).toBe(0)
  })

  it('prints a refusal where the configuration cannot be read at all', async () => {
    configure({
      wall: { ...WALL, secret: { file: './none' } },
      other: { profile: 'sharklio', secret: { env: 'X' } },
    })
    const missing = await cli(folder.path, ['doctor', '--json'])
    expect(missing.code).toBe(1)
    expect(JSON.parse(missing.stdout)).toMatchObject({
      findings: expect.arrayContaining([
        expect.objectContaining({ check: 'networks.wall.secret', severity: 'refuse' }),
        expect.objectContaining({ check: 'networks.other.secret', severity: 'refuse' }),
      ]) as unknown,
    })
    configure({ Wall: WALL })
    const wrong = await cli(folder.path, ['doctor'])
    expect(wrong.code).toBe(1)
    expect(wrong.stdout).toContain('refuse  configuration: networks has the name "Wall"')
  })

  it('shows and calls the further paths of a network', async () => {
    const called: string[] = []
    const proxy = createServer((request, response) => {
      called.push(request.url ?? '')
      response.writeHead(request.url === '/old/wall.php' ? 404 : 403).end()
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    configure({ wall: WALL })
    const { code, stdout } = await cli(folder.path, ['doctor', '--url', origin], { WALL_KEY: 'k' })
    proxy.close()
    expect(code).toBe(1)
    expect(called).toEqual(['/postback/wall', '/old/wall.php'])
    expect(stdout).toMatch(/refuse {2}reachability of http:\S+\/old\/wall\.php: The answer is 404/)
    expect(stdout).toMatch(/ok +networks\.wall: .*\/old\/wall\.php/)
  })
})

describe('start', () => {
  const server = { url: 'http://127.0.0.1:8790', adminUrl: 'http://127.0.0.1:8790', ledgerId: null }

  it('tells the further paths of a network', async () => {
    configure({ wall: WALL }, { publicUrl: 'https://pay.example.com' })
    const { settings } = await loadSettings({ env: { WALL_KEY: 'k' }, cwd: folder.path })
    const text = describeServer(settings, { ...server, adminToken: 't', adminTokenOrigin: 'generated' })
    expect(text).toMatch(/wall +https:\/\/pay\.example\.com\/postback\/wall\?tx=/)
    expect(text).toMatch(/ +https:\/\/pay\.example\.com\/old\/wall\.php\?tx=/)
  })

  it('says which token holds at a later start', async () => {
    configure({ wall: WALL })
    const { settings } = await loadSettings({ env: { WALL_KEY: 'k' }, cwd: folder.path })
    const kept = describeServer(settings, { ...server, adminToken: null, adminTokenOrigin: 'kept' })
    expect(kept).toContain(
      'admin token: as printed at the first start; to set another one, set PAIDONCE_ADMIN_TOKEN',
    )
    const given = describeServer(settings, { ...server, adminToken: null, adminTokenOrigin: 'given' })
    expect(given).not.toContain('as printed at the first start')
  })
})
