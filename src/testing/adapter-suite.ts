/**
 * The published suite of adapters: what has to reach the receiver and what has to come back, whatever framework stands
 * between.
 *
 * @module
 */
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import type { Receiver, ReceiverRequest, ReceiverResponse } from '../receiver/types.js'
import type { SuiteRunner } from './suite-store.js'

/** A running server whose `/postback` is served by the adapter under test. */
export interface AdapterServer {
  readonly port: number
  readonly close: () => Promise<void>
}

/** Mounts the adapter at `/postback` on a loopback port. */
export type ServeAdapter = (receiver: Receiver) => Promise<AdapterServer>

/**
 * Registers every test of the suite.
 *
 * @param rawTarget false where the framework hands out only a re-escaped URL
 */
export function adapterSuite(
  { describe, it }: SuiteRunner,
  name: string,
  serve: ServeAdapter,
  rawTarget = true,
): void {
  describe(`adapter suite: ${name}`, () => {
    const on =
      (body: (send: Send, seen: ReceiverRequest[]) => Promise<void>, answer?: Partial<ReceiverResponse>) =>
      async (): Promise<void> => {
        const seen: ReceiverRequest[] = []
        const server = await serve(recordingReceiver(seen, answer))
        try {
          await body(
            (method, path, headers, payload) => sendRaw(server.port, method, path, headers, payload),
            seen,
          )
        } finally {
          await server.close()
        }
      }

    it(
      'passes the request target on as it arrived',
      on(async (send, seen) => {
        const target = rawTarget
          ? "/postback/n?a=%41&b=1+2&c='%22<>|&d=%e4%00&a=2;x&e"
          : '/postback/n?a=%41&b=1+2&d=%e4%00&a=2;x&e'
        await send('GET', target)
        assert.equal(seen[0]?.url, target)
        assert.equal(seen[0].method, 'GET')
        assert.match(seen[0].remoteAddress, /127\.0\.0\.1$/)
      }),
    )

    it(
      'passes a body on byte for byte, whatever its media type',
      on(async (send, seen) => {
        const payload = Buffer.from([0x7b, 0x22, 0xff, 0x00, 0x0a, 0x7d])
        for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
          await send('POST', '/postback/n', { 'content-type': type, 'x-signature': 'sha256=ab' }, payload)
        }
        for (const request of seen) assert.deepEqual(Buffer.from(request.body), payload)
        assert.equal(seen[0]?.headers['x-signature'], 'sha256=ab')
      }),
    )

    it(
      'gives status, headers and body back untouched',
      on(
        async (send) => {
          const answer = await send('GET', '/postback/n?x=1')
          assert.deepEqual([answer.status, answer.body], [503, 'later'])
          assert.equal(answer.headers['retry-after'], '5')
          assert.equal(answer.headers['cache-control'], 'no-store')
          assert.equal(answer.headers['content-type'], 'text/plain; charset=utf-8')
        },
        {
          status: 503,
          body: 'later',
          headers: {
            'content-type': 'text/plain; charset=utf-8',
            'cache-control': 'no-store',
            'retry-after': '5',
          },
        },
      ),
    )

    it(
      'lets the receiver refuse other methods',
      on(async (send, seen) => {
        await send('HEAD', '/postback/n?x=1')
        await send('DELETE', '/postback/n?x=1')
        assert.deepEqual(
          seen.map((request) => request.method),
          ['HEAD', 'DELETE'],
        )
      }),
    )

    it(
      'turns a body of more than a mebibyte away',
      on(async (send, seen) => {
        const { status } = await send('POST', '/postback/n', {}, Buffer.alloc(1024 * 1024 + 1, 0x61))
        assert.equal(status, 413)
        assert.deepEqual(seen, [])
      }),
    )
  })
}

type Send = (
  method: string,
  path: string,
  headers?: Record<string, string>,
  payload?: Buffer,
) => Promise<{ status: number; headers: Record<string, unknown>; body: string }>

function recordingReceiver(seen: ReceiverRequest[], answer: Partial<ReceiverResponse> = {}): Receiver {
  return {
    handle: async (request: ReceiverRequest) => {
      seen.push(request)
      return {
        status: 200,
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body: 'OK',
        outcome: 'credited',
        ...answer,
      }
    },
  } as unknown as Receiver
}

const sendRaw = (
  port: number,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  payload?: Buffer,
): ReturnType<Send> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(
      { port, host: '127.0.0.1', method, path, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          })
        })
      },
    )
    // A server that answers 413 may close before it has read everything; the answer is what counts.
    request.on('error', (error) =>
      setTimeout(() => {
        reject(error)
      }, 200),
    )
    request.end(payload)
  })
