/**
 * Stands between a server and its PostgreSQL and writes down the groups that pass: what was really sent, whatever the
 * store's code looks like.
 *
 * @module
 */
import { connect, createServer, type Socket } from 'node:net'
import type { Cleanup } from '../cleanup.js'
import { createReadyReader, createRequestReader, type WireRequest, type WireStatement } from './wire.js'

/** All that was sent to settle one group. Each trip is what was sent before an answer was waited for. */
export interface RecordedGroup {
  readonly trips: readonly (readonly WireStatement[])[]
}

export interface Recorder {
  /** The database through this recorder. */
  readonly url: string
  /** The groups since the start, by connection. */
  readonly groups: ReadonlyMap<number, readonly RecordedGroup[]>
  stop(): Promise<void>
}

/** What every group does and nothing else: it ends with the next answer outside of a transaction. */
const WRITES_LEDGER = /insert into\s+"?\w*"?\.?"?\w*ledger"?\s/i

export async function startRecorder(url: string, cleanup: Cleanup): Promise<Recorder> {
  const target = new URL(url)
  const groups = new Map<number, RecordedGroup[]>()
  const sockets = new Set<Socket>()
  let serial = 0
  const server = createServer((client) => {
    serial += 1
    const found: RecordedGroup[] = []
    groups.set(serial, found)
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    const account = createAccount((group) => found.push(group))
    const requestsIn = createRequestReader()
    const statesIn = createReadyReader()
    client.on('data', (chunk: Buffer) => {
      for (const request of requestsIn(chunk)) account.sent(request)
      upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      for (const state of statesIn(chunk)) account.ready(state === 'I')
      client.write(chunk)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const through = new URL(url)
  through.port = String(typeof address === 'object' && address !== null ? address.port : '')
  const stop = cleanup.defer(async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { url: through.href, groups, stop }
}

export interface Account {
  sent(request: WireRequest): void
  /** The server has answered one request. */
  ready(outsideTransaction: boolean): void
}

/** Puts the requests of one connection together to groups. */
export function createAccount(onGroup: (group: RecordedGroup) => void): Account {
  let trips: WireStatement[][] = []
  // The first answer of a connection is to its start.
  let waiting = 1
  let started = false
  return {
    sent({ statements }) {
      const last = trips.at(-1)
      if (waiting === 0 || last === undefined) trips.push([...statements])
      else last.push(...statements)
      waiting += 1
    },
    ready(outsideTransaction) {
      waiting -= 1
      if (!started) {
        started = true
        return
      }
      if (waiting > 0 || !outsideTransaction) return
      if (!trips.flat().some(({ text }) => WRITES_LEDGER.test(text))) return
      onGroup({ trips })
      trips = []
    },
  }
}
