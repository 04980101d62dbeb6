import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { describe, expect, it } from 'vitest'
import { paidonceExpress } from '../../src/adapters/express.js'
import { paidonceNode } from '../../src/adapters/node.js'
import { paidonceWeb } from '../../src/adapters/web.js'
import { getRequestListener } from '@hono/node-server'
import { adapterSuite, type AdapterServer } from '../../src/testing/adapter-suite.js'
import type { Receiver } from '../../src/receiver/types.js'

// Version 4 is installed under a name of its own, which has no types.
const express4 = createRequire(import.meta.url)('express4') as typeof express

async function listening(server: Server): Promise<AdapterServer> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

adapterSuite({ describe, it }, 'node:http', (receiver) => {
  const handle = paidonceNode(receiver)
  return listening(createServer((request, response) => void handle(request, response)))
})

adapterSuite({ describe, it }, 'Express 5', (receiver) =>
  listening(createServer(express().use('/postback', paidonceExpress(receiver)))),
)

adapterSuite({ describe, it }, 'Express 4', (receiver) =>
  listening(createServer(express4().use('/postback', paidonceExpress(receiver)))),
)

adapterSuite({ describe, it }, 'web Request with the raw target', (receiver) => {
  const handle = paidonceWeb(receiver)
  return listening(
    createServer((request, response) => {
      const rawUrl = request.url ?? ''
      const serve = getRequestListener((web) => handle(web, { remoteAddress: '127.0.0.1', rawUrl }))
      void serve(request, response)
    }),
  )
})

adapterSuite(
  { describe, it },
  'web Request alone',
  (receiver) => {
    const handle = paidonceWeb(receiver)
    const serve = getRequestListener((web) => handle(web, { remoteAddress: '127.0.0.1' }))
    return listening(createServer((request, response) => void serve(request, response)))
  },
  false,
)

describe('Express', () => {
  it('a body parser before it is an error of set-up, not a bad signature', async () => {
    const receiver = { handle: () => Promise.reject(new Error('must not be called')) } as unknown as Receiver
    const app = express().use(express.urlencoded()).use('/postback', paidonceExpress(receiver))
    app.use(((error: Error, _request, response, _next) =>
      response.status(500).send(error.message)) as express.ErrorRequestHandler)
    const server = await listening(createServer(app))
    const response = await fetch(`http://127.0.0.1:${server.port}/postback/n`, {
      method: 'POST',
      body: new URLSearchParams({ a: '1' }),
    })
    expect(response.status).toBe(500)
    expect(await response.text()).toMatch(/mount paidonceExpress before express\.json/)
    await server.close()
  })
})
