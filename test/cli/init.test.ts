import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadSettings } from '../../src/server/config.js'
import { cli, makeFolder, type CliResult } from './cli-run.js'

let folder: ReturnType<typeof makeFolder>
beforeEach(() => {
  folder = makeFolder()
})
afterEach(() => {
  folder.remove()
})

const init = (...argv: string[]): Promise<CliResult> => cli(folder.path, ['init', ...argv])
const BASE = ['--network', 'wall', '--profile', 'sharklio']
const written = (): boolean =>
  ['mjs', 'json', 'js', 'ts'].some((ending) => existsSync(join(folder.path, `paidonce.config.${ending}`)))

describe('init', () => {
  it('refuses what start would refuse, names the flag and writes nothing', async () => {
    const wrong: (readonly [string, string[]])[] = [
      ['--port', [...BASE, '--port', 'abc']],
      ['--port', [...BASE, '--port', '99999']],
      ['--database', [...BASE, '--database', 'foo:bar']],
      ['--host', [...BASE, '--host', 'a b']],
      ['--network', ['--network', 'Foo', '--profile', 'sharklio']],
      ['--network', ['--network', 'paidonce', '--profile', 'sharklio']],
      ['--network', ['--network', '', '--profile', 'sharklio']],
      ['--profile', ['--network', 'n', '--profile', 'sharklo']],
      ['--public-url', [...BASE, '--public-url', 'ftp://x']],
      ['--rate', [...BASE, '--rate', 'x']],
      ['--secret-env', [...BASE, '--secret-env', '1 x']],
      ['--log-level', [...BASE, '--log-level', 'loud']],
      ['--config', [...BASE, '--config', 'wall.yaml']],
      ['--json-config', [...BASE, '--config', 'wall.mjs', '--json-config']],
      ['--config', [...BASE, '--config', 'no/folder/wall.mjs']],
    ]
    for (const [flag, argv] of wrong) {
      const { code, stdout, stderr } = await init(...argv)
      expect([argv, code, stdout]).toEqual([argv, 2, ''])
      expect(stderr.split('\n')[0]).toContain(flag)
      expect(written()).toBe(false)
    }
  })

  it('shows no password of a public address or a database', async () => {
    for (const argv of [
      ['--public-url', 'https://me:hidden@pay.example.com'],
      ['--database', 'postgres://app:hid/hidden@localhost/app'],
      ['--database', 'foo://app:hidden@localhost/app'],
    ]) {
      const { code, stdout, stderr } = await init(...BASE, ...argv)
      expect([argv, code]).toEqual([argv, 2])
      expect(stdout + stderr).not.toContain('hidden')
      expect(written()).toBe(false)
    }
  })

  it('names the variable of a network whose name begins with a digit', async () => {
    const { code, stderr } = await init('--network', '9wall', '--profile', 'sharklio')
    expect(code).toBe(0)
    expect(stderr).toContain('NETWORK_9WALL_POSTBACK_KEY')
  })

  it('writes the file that --config names, so that start reads it', async () => {
    mkdirSync(join(folder.path, 'esm'))
    writeFileSync(join(folder.path, 'esm', 'package.json'), '{"type":"module"}')
    for (const name of ['bar.json', 'bar.mjs', 'bar.js', 'bar.cjs', 'bar.ts', 'esm/bar.js']) {
      const made = await init(...BASE, '--config', name, '--port', '9001')
      expect([name, made.code, made.stderr]).toEqual([name, 0, expect.stringContaining(name)])
      expect(made.stderr).toContain(`--config ${name}`)
      const env = { WALL_POSTBACK_KEY: 'k' }
      const { settings } = await loadSettings({ flags: { config: name }, env, cwd: folder.path })
      expect(settings).toMatchObject({ port: 9001, networks: { wall: { profile: 'sharklio', secret: 'k' } } })
      expect((await init(...BASE, '--config', name)).code).toBe(1)
    }
    expect(JSON.parse(readFileSync(join(folder.path, 'bar.json'), 'utf8'))).toHaveProperty('networks.wall')
    expect(written()).toBe(false)
  })
})
