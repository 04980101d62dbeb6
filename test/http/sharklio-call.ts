/**
 * Signed calls as Sharklio documents them, made with nothing but Node's crypto: the product's own signer is not
 * trusted to judge the product's own verifier.
 *
 * @module
 */
import { createHmac } from 'node:crypto'

export const SECRET = 'a postback key for tests'

export interface SharklioCall {
  readonly tx: string
  readonly user: string
  readonly reward: string
  /** 1 is a credit, 2 a reversal. */
  readonly status: '1' | '2'
  readonly event?: string
}

/** The path and query of a signed call to network `sharklio`. */
export function sharklioPath({ tx, user, reward, status, event = '' }: SharklioCall): string {
  const hash = createHmac('sha256', SECRET).update(`${tx}:${user}:${reward}:${status}`).digest('hex')
  const query = Object.entries({ tx, user, reward, status, event, hash })
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
  return `/postback/sharklio?${query}`
}

/** Sends a call on a connection of its own. */
export async function send(base: string, path: string): Promise<{ status: number; body: string }> {
  const response = await fetch(base + path, { headers: { connection: 'close' }, redirect: 'manual' })
  return { status: response.status, body: await response.text() }
}
