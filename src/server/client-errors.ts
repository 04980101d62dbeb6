/**
 * Calls that Node.js rejects before any handler: a raw space or raw UTF-8 in the URL, a URL beyond the header limit, a
 * request that never ends. A network that builds its URL without encoding loses its postbacks exactly here, and
 * nothing else would ever tell.
 *
 * @module
 */
import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { redactUrl } from '../inbox/redact.js'
import type { Logger } from './logger.js'

const MAX_LINE = 200

/** What Node.js adds to the error. */
interface ClientError extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
}

/** Counts, logs and answers every call that never became a request. */
export function watchClientErrors(server: Server, logger: Logger, countLost: () => void): void {
  server.on('clientError', (error: ClientError, socket: Duplex) => {
    if (isPostbackLost(error, socket)) {
      countLost()
      logger.warn(
        { code: error.code ?? null, status: statusOf(error.code), line: firstLine(error.rawPacket) },
        'A call was lost before parsing: it is no valid HTTP. If this is a network, it does not encode its URL.',
      )
    }
    answer(socket, statusOf(error.code))
  })
}

/** A connection that was opened and never used, or broke off, carried no call. */
function isPostbackLost(error: ClientError, socket: Duplex): boolean {
  if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return false
  if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return true
  return 'bytesRead' in socket && Number(socket.bytesRead) > 0
}

/** The status that Node.js itself would answer with. */
export function statusOf(code: string | undefined): 400 | 408 | 413 | 431 {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 413
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
}

const REASONS = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
} as const

function answer(socket: Duplex, status: keyof typeof REASONS): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const body = REASONS[status]
  socket.end(
    `HTTP/1.1 ${status} ${body}\r\nConnection: close\r\nCache-Control: no-store\r\n` +
      `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
}

/**
 * The first line of what arrived, at most 200 characters, secrets hidden and everything unprintable escaped.
 *
 * @returns null where nothing is known; a marker where the packet is not the call's beginning, because a part of a
 * value could be a part of a secret
 */
export function firstLine(packet: Buffer | undefined): string | null {
  if (packet === undefined) return null
  const text = packet.toString('latin1')
  if (!/^[A-Z]{3,10} /.test(text)) return `(${packet.length} bytes that do not begin a request)`
  const line = text.split(/\r?\n/, 1)[0] ?? ''
  // Hiding comes first, so that the cut cannot leave the beginning of a secret behind.
  const escaped = redactUrl(line).replace(
    /[^ -~]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return escaped.length > MAX_LINE ? `${escaped.slice(0, MAX_LINE)}…` : escaped
}
