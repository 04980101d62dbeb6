import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cli, makeFolder, type CliResult } from './cli-run.js'

let folder: ReturnType<typeof makeFolder>
let server: Server | null = null
beforeEach(() => {
  folder = makeFolder()
  writeFileSync(join(folder.path, 'token'), 'the-token\n')
  const networks = {
    wall: { profile: 'sharklio', secret: 'k' },
  }
  writeFileSync(join(folder.path, 'paidonce.config.json'), JSON.stringify({ networks }))
})
afterEach(() => {
  server?.close()
  folder.remove()
})

/** A server that answers calls and its admin API with fixed statuses; resolves to its origin and what it was sent. */
async function serve(
  postback: number,
  admin: (path: string) => { readonly status: number; readonly json?: unknown },
): Promise<{ readonly origin: string; readonly calls: string[] }> {
  const calls: string[] = []
  const made = createServer((request, response) => {
    const path = request.url ?? ''
    if (!path.startsWith('/api/')) {
      calls.push(path)
      response.writeHead(postback).end('x')
      return
    }
    const { status, json = {} } = admin(path)
    response.writeHead(status).end(JSON.stringify(json))
  })
  server = made
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  return { origin: `http://127.0.0.1:${(made.address() as AddressInfo).port}`, calls }
}

const send = (origin: string, ...more: string[]): Promise<CliResult> =>
  cli(folder.path, [
    ...['send', '--network', 'wall', '--user', 'u', '--amount', '1', '--to', origin],
    ...more,
  ])

describe('send', () => {
  it('sends although the admin API answers 503, and does not blame the token', async () => {
    for (const admin of [
      (path: string) => ({ status: path === '/api/v1/audit' ? 200 : 503 }),
      () => ({ status: 503 }),
    ]) {
      const { origin, calls } = await serve(200, admin)
      const { code, stdout, stderr } = await send(origin, '--token-file', 'token')
      expect([code, calls.length]).toEqual([0, 1])
      expect(stdout).toContain('1 × 200')
      expect(stderr).toContain('503')
      expect(stderr).not.toMatch(/token/i)
    }
  })

  it('hints about the token where it is refused', async () => {
    const { origin, calls } = await serve(200, () => ({ status: 401 }))
    const { code, stderr } = await send(origin, '--token-file', 'token')
    expect([code, calls.length]).toEqual([0, 1])
    expect(stderr).toContain('401')
    expect(stderr).toContain('--token-file')
  })

  it('ends with 1 where no answer accepts the call, or nothing was booked', async () => {
    const refusing = await serve(500, () => ({ status: 404 }))
    expect((await send(refusing.origin)).code).toBe(1)
    server?.close()
    const empty = await serve(200, (path) => ({ status: path === '/api/v1/audit' ? 200 : 404 }))
    const { code, stdout } = await send(empty.origin, '--token-file', 'token')
    expect(stdout).toContain('0 credit rows')
    expect(code).toBe(1)
  })
})
