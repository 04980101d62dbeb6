/**
 * Express 4 and 5. Mount it before any body parser: signatures are computed over the raw bytes.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Receiver } from '../receiver/types.js'
import { readBody } from './read-body.js'

/** What the adapter uses of an Express request, taken by structure so that Express stays a peer. */
export type ExpressRequest = IncomingMessage & { readonly originalUrl: string; readonly body?: unknown }

/**
 * Makes an Express middleware that answers every call it gets.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { paidonceExpress } from 'paidonce/express'
 * import type { Receiver } from 'paidonce'
 *
 * declare const receiver: Receiver
 * express().use('/postback', paidonceExpress(receiver))
 * ```
 */
export function paidonceExpress(
  receiver: Receiver,
): (request: ExpressRequest, response: ServerResponse, next: (error?: unknown) => void) => void {
  return (request, response, next) => {
    answer(receiver, request, response).catch(next)
  }
}

async function answer(receiver: Receiver, request: ExpressRequest, response: ServerResponse): Promise<void> {
  const body = await rawBody(request)
  if (body === 'aborted') return
  if (body === 'too_large') {
    response.writeHead(413, { 'content-type': 'text/plain; charset=utf-8' }).end('too large')
    return
  }
  const {
    status,
    headers,
    body: text,
  } = await receiver.handle({
    method: request.method ?? 'GET',
    url: request.originalUrl,
    headers: request.headers,
    body,
    remoteAddress: request.socket.remoteAddress ?? '',
  })
  response.writeHead(status, headers).end(text)
}

/** A parser that ran before has eaten the raw bytes; that is an error of set-up and must not pass for a bad signature. */
function rawBody(request: ExpressRequest): ReturnType<typeof readBody> {
  if (Buffer.isBuffer(request.body)) return Promise.resolve(request.body)
  if (request.readableEnded && request.method === 'POST' && request.headers['content-length'] !== '0') {
    throw new TypeError(
      'A body parser ran before Paidonce, so the raw body is gone: mount paidonceExpress before express.json() and express.urlencoded().',
    )
  }
  return readBody(request)
}
