import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../servers/free-port.js'
import { makeFolder } from './cli-run.js'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const JITI = fileURLToPath(new URL('../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url))

let folder: ReturnType<typeof makeFolder>
let child: ChildProcess | null = null
beforeEach(() => {
  folder = makeFolder()
})
afterEach(() => {
  child?.kill('SIGKILL')
  child = null
  folder.remove()
})

/** The executable as a process of its own. */
function launch(...argv: string[]): {
  ended: Promise<number | string | null>
  wrote: (text: string) => Promise<void>
} {
  const { npm_lifecycle_event: _, ...env } = process.env
  const launched = spawn(process.execPath, [JITI, MAIN, ...argv], { cwd: folder.path, env })
  child = launched
  let written = ''
  const collect = (chunk: Buffer): void => {
    written += chunk.toString()
    launched.emit('wrote')
  }
  launched.stdout.on('data', collect)
  launched.stderr.on('data', collect)
  return {
    ended: new Promise((resolve) => {
      launched.on('exit', (code, signal) => {
        resolve(code ?? signal)
      })
    }),
    wrote: (text) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (written.includes(text)) resolve()
        }
        launched.on('wrote', look)
        look()
      }),
  }
}

describe('the process', { timeout: 30_000 }, () => {
  it('ends with 0 after SIGTERM', async () => {
    const server = launch('start', '--demo', '--port', String(await freePort()))
    await server.wrote('Look at the wallet')
    child?.kill('SIGTERM')
    expect(await server.ended).toBe(0)
  })

  it('ends with 1 at once after a second signal, though a call is still open', async () => {
    const port = await freePort()
    const server = launch('start', '--demo', '--port', String(port))
    await server.wrote('Look at the wallet')
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    // Its body is asked for and never sent, so that the call stays open however slow the machine is.
    socket.write(
      'POST /postback/demo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n',
    )
    await new Promise((resolve) => socket.once('data', resolve))
    child?.kill('SIGTERM')
    await server.wrote('a second signal ends at once')
    child?.kill('SIGTERM')
    const code = await server.ended
    socket.destroy()
    expect(code).toBe(1)
  })

  it('ends with 130 when it is interrupted', async () => {
    const hanging: Server = createServer(() => undefined)
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve))
    const { port } = hanging.address() as AddressInfo
    const arrived = new Promise((resolve) => hanging.once('request', resolve))
    const replay = launch('replay', `http://127.0.0.1:${port}/postback/x`)
    await arrived
    child?.kill('SIGINT')
    expect(await replay.ended).toBe(130)
    hanging.closeAllConnections()
    hanging.close()
  })
})
