/**
 * Signed calls of the four neutral schemes, written from their descriptions alone: nothing here comes from the product,
 * so that a fault in its own signing cannot hide one in its checking.
 *
 * @module
 */
import { createHash, createHmac } from 'node:crypto'

export interface Call {
  readonly method: 'GET' | 'POST'
  /** Path and query, exactly as they go out. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}

export type Scheme = 'raw' | 'cat' | 'sort' | 'body'
export type Values = Readonly<Record<string, string>>

/** A correctly signed call with status 1. */
export function credit(scheme: Scheme, tx: string, user: string, amount: string, more: Values = {}): Call {
  return signed(scheme, { user_id: user, tx, amount, status: '1', ...more })
}

/** A correctly signed call with status 2. */
export function reverse(scheme: Scheme, tx: string, user: string, amount: string, more: Values = {}): Call {
  return signed(scheme, { user_id: user, tx, amount, status: '2', ...more })
}

export function signed(scheme: Scheme, values: Values): Call {
  if (scheme === 'raw') return rawCall(queryOf(values))
  if (scheme === 'body') return bodyCall(JSON.stringify({ ...values, amount: Number(values['amount']) }))
  if (scheme === 'cat') {
    const { user_id = '', tx = '', amount = '' } = values
    const signature = createHash('md5').update(`${user_id}${tx}${amount}catkey`).digest('hex')
    return get(`/postback/cat?${queryOf({ ...values, signature })}`)
  }
  const names = Object.keys(values).sort()
  const message = names.map((name) => `${name}=${values[name] ?? ''}`).join('&')
  return get(`/postback/sort?${queryOf({ ...values, sig: hmac('sortkey', Buffer.from(message)) })}`)
}

/** A call of the scheme `raw`, with the query as it stands. */
export function rawCall(query: string, network = 'raw'): Call {
  return get(`/postback/${network}?${query}&sig=${hmac('rawkey', Buffer.from(query, 'latin1'))}`)
}

/** A call of the scheme `raw` whose signature is that of another call. */
export function forgedCall(query: string): Call {
  return get(`/postback/raw?${query}&sig=${hmac('rawkey', Buffer.from(`${query}0`, 'latin1'))}`)
}

/** A call of the scheme `body`, with the body as it stands. */
export function bodyCall(text: string): Call {
  const body = Buffer.from(text)
  const headers = {
    'content-type': 'application/json',
    'x-signature': `sha256=${hmac('bodykey', body)}`,
  }
  return { method: 'POST', target: '/postback/body', headers, body }
}

export function queryOf(values: Values): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
}

function get(target: string): Call {
  return { method: 'GET', target, headers: {}, body: null }
}

function hmac(secret: string, message: Buffer): string {
  return createHmac('sha256', secret).update(message).digest('hex')
}
