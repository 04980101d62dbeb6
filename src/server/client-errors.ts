/**
 * Calls that Node.js rejects before any handler: a raw space or raw UTF-8 in the URL, a URL beyond the header limit, a
 * request that never ends. A network that builds its URL without encoding loses its postbacks exactly here, and
 * nothing else would ever tell.
 *
 * @module
 */
import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from './logger.js'

const MAX_LINE = 200

/** What Node.js adds to the error. */
interface ClientError extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
}

/**
 * Counts, logs and answers every call that never became a request.
 *
 * @param traffic the limited log
 */
export function watchClientErrors(server: Server, traffic: Logger, countLost: () => void): void {
  const answered = new WeakSet<Duplex>()
  server.on('clientError', (error: ClientError, socket: Duplex) => {
    // Node reports a socket again for as long as the other side keeps it open; its call was lost once.
    if (answered.has(socket)) {
      socket.destroy()
      return
    }
    answered.add(socket)
    const { code, rawPacket } = error
    if (isPostbackLost(error, socket)) {
      countLost()
      traffic.warn(
        { code: code ?? null, status: statusOf(code), line: describeLine(rawPacket) },
        wordingOf(code, rawPacket),
      )
    }
    answer(socket, statusOf(code))
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

/** The parser stops at the first character of a URL that has to be encoded, or at the text after a raw space. */
const UNENCODED = ['HPE_INVALID_URL', 'HPE_INVALID_CONSTANT', 'HPE_INVALID_VERSION']

/** Says what was wrong with a call, so that its sender can be told. */
export function wordingOf(code: string | undefined, packet: Buffer | undefined): string {
  return `A call was lost before parsing: ${whyLost(code, packet)}`
}

function whyLost(code: string | undefined, packet: Buffer | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return 'its URL and headers are longer than 16 KiB. If this is a network, shorten the URL that is set there.'
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return 'its sender was too slow, and the request was not complete in time. If this is a network, it has to send again.'
  }
  if (code !== undefined && UNENCODED.includes(code)) {
    return 'its first line is no valid HTTP. If this is a network, it does not encode its URL.'
  }
  if (packet?.[0] === 0x16 && packet[1] === 0x03) {
    return 'it speaks HTTPS, and this port speaks HTTP. Let a proxy in front end TLS.'
  }
  return 'it is no valid HTTP.'
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
 * The first line of what arrived: method, path and the names of the parameters, at most 200 characters, everything
 * unprintable escaped. Values stay out, because nobody knows at this point which of them is a secret.
 *
 * @returns null where nothing is known; a marker where the packet is not the call's beginning, because a part of a
 * value could be a part of a secret
 */
export function describeLine(packet: Buffer | undefined): string | null {
  if (packet === undefined) return null
  const text = packet.toString('latin1')
  if (!/^[A-Z]{3,10} /.test(text)) return `(${packet.length} bytes that do not begin a request)`
  const line = (text.split(/\r?\n/, 1)[0] ?? '').replace(/ HTTP\/[0-9.]*$/, '')
  const mark = line.indexOf('?')
  const path = mark < 0 ? line : line.slice(0, mark)
  const names =
    mark < 0
      ? ''
      : `?${line
          .slice(mark + 1)
          .split('&')
          .map(nameOf)
          .join('&')}`
  const escaped = (path + names).replace(
    /[^ -~…]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return escaped.length > MAX_LINE ? `${escaped.slice(0, MAX_LINE)}…` : escaped
}

/** A text without "=", or one that looks like no name, may be a part of a value that was not encoded. */
function nameOf(pair: string): string {
  const [name = '', value] = pair.split('=', 2)
  return value !== undefined && /^[\w.[\]%-]{1,40}$/.test(name) ? name : '…'
}
