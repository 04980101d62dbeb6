/**
 * A TCP proxy that cuts a database connection at the worst moments. It knows no protocol: the caller tells which
 * bytes of a client are the COMMIT.
 *
 * @module
 */
import { connect, createServer, type Socket } from 'node:net'
import { statement } from '../../src/stores/postgres/session.js'

/**
 * - `pass`: forwards everything.
 * - `drop-commit`: cuts the connection when COMMIT arrives, before it is forwarded: nothing is committed.
 * - `drop-reply`: forwards COMMIT, waits for the server's reply and cuts the connection instead of passing it on, and
 *   nothing of what was sent with it either.
 * - `hang-reply`: forwards COMMIT and swallows every reply from then on; the connection stays open.
 * - `black-hole`: accepts connections, swallows every byte in both directions.
 * - `delay`: forwards every chunk `delayMs` later.
 */
export type CutMode = 'pass' | 'drop-commit' | 'drop-reply' | 'hang-reply' | 'black-hole' | 'delay'

export interface CutProxyOptions {
  /** Where the real server listens on loopback. */
  readonly port: number
  /** Whether a chunk that the client sent is (or holds) COMMIT. Default: it ends with the word. */
  readonly isCommit?: (bytes: Buffer) => boolean
}

export interface CutProxy {
  readonly port: number
  /** How many cuts have happened: a test that injects a fault asserts that it fired. */
  readonly fired: number
  /** Changes the mode; with `times` the proxy goes back to `pass` after that many cuts. */
  set(mode: CutMode, options?: { readonly times?: number; readonly delayMs?: number }): void
  /** Cuts every open connection now. */
  cutAll(): void
  stop(): Promise<void>
}

/** COMMIT by its name as a prepared statement on PostgreSQL; where its text follows it is only being prepared. */
const PREPARED_COMMIT = new RegExp(`${statement('commit').name}\\0(?!commit)`)

/** True where what a client sent ends with COMMIT, alone or behind other messages, in the protocols of both servers. */
export function looksLikeCommit(bytes: Buffer): boolean {
  const end = bytes.subarray(-128).toString('latin1')
  return /\bcommit\W*$/i.test(end) || PREPARED_COMMIT.test(end)
}

/** A server that was sent several messages at once answers them one by one; after so long it has answered COMMIT too. */
const REPLY_MS = 100

/** Starts the proxy on a free port of loopback, in mode `pass`. */
export async function startCutProxy(options: CutProxyOptions): Promise<CutProxy> {
  const isCommit = options.isCommit ?? looksLikeCommit
  const sockets = new Set<Socket>()
  let mode: CutMode = 'pass'
  let left = Infinity
  let delayMs = 0
  let fired = 0
  const fire = (): void => {
    fired += 1
    left -= 1
    if (left <= 0) mode = 'pass'
  }

  const server = createServer((client) => {
    const upstream = connect(options.port, '127.0.0.1')
    // What happens to the server's next bytes on this connection, once its COMMIT has gone through.
    let reply: 'pass' | 'cut' | 'swallow' = 'pass'
    const cut = (): void => {
      client.destroy()
      upstream.destroy()
    }
    const forward = (to: Socket, bytes: Buffer): void => {
      if (mode === 'delay') setTimeout(() => to.writable && to.write(bytes), delayMs)
      else if (to.writable) to.write(bytes)
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', cut)
      socket.on('close', () => {
        sockets.delete(socket)
        cut()
      })
    }
    client.on('data', (bytes) => {
      if (mode === 'black-hole') {
        fired += 1
        return
      }
      if ((mode === 'drop-commit' || mode === 'drop-reply' || mode === 'hang-reply') && isCommit(bytes)) {
        const now = mode
        fire()
        if (now === 'drop-commit') {
          cut()
          return
        }
        reply = now === 'drop-reply' ? 'cut' : 'swallow'
      }
      forward(upstream, bytes)
    })
    upstream.on('data', (bytes) => {
      if (reply === 'cut') setTimeout(cut, REPLY_MS)
      else if (reply === 'pass' && mode !== 'black-hole') forward(client, bytes)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    get fired() {
      return fired
    },
    set(next, settings = {}) {
      mode = next
      left = settings.times ?? Infinity
      delayMs = settings.delayMs ?? 0
    },
    cutAll,
    async stop() {
      cutAll()
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve()
        })
      })
    },
  }
}
