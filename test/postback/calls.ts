/**
 * The four neutral networks and the calls that the tests send them.
 *
 * @module
 */
import { createHash, createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { lookUpProfile } from '../../src/catalogue/catalogue.js'
import { resolveNetwork, type Network, type NetworkConfig } from '../../src/postback/network.js'
import type { RawRequest } from '../../src/postback/raw-request.js'
import { readPostback, type Reading } from '../../src/postback/read.js'

export type NeutralName = 'raw' | 'cat' | 'sort' | 'body'

/** A neutral profile as plain data, for a test to change. */
export function neutralProfile(name: NeutralName): Record<string, unknown> {
  const file = new URL(`profiles/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
}

/** A neutral network; its secret is `rawkey`, `catkey`, … */
export function neutral(
  name: NeutralName,
  config: Partial<NetworkConfig> = {},
  profile: Record<string, unknown> = {},
): Network {
  const merged = { ...neutralProfile(name), ...profile }
  return resolveNetwork(name, { profile: merged, secret: `${name}key`, ...config }, lookUpProfile)
}

export function get(url: string, extra: Partial<RawRequest> = {}): RawRequest {
  return { method: 'GET', url, headers: {}, body: Buffer.alloc(0), remoteAddress: '203.0.113.7', ...extra }
}

export function read(request: RawRequest, network: Network, amountScale = 3): Reading {
  return readPostback(request, network, { amountScale, postbackId: 'p1' })
}

export function signRaw(query: string): string {
  return createHmac('sha256', 'rawkey').update(query, 'latin1').digest('hex')
}

/** A correctly signed call of `raw`, from its query without the signature. */
export function raw(query: string, after = ''): RawRequest {
  return get(`/postback/raw?${query}&sig=${signRaw(query)}${after}`)
}

export function cat(user: string, transaction: string, amount: string, status = '1'): RawRequest {
  const signature = createHash('md5').update(`${user}${transaction}${amount}catkey`).digest('hex')
  return get(
    `/postback/cat?user_id=${user}&tx=${transaction}&amount=${amount}&status=${status}&signature=${signature}`,
  )
}

export function signSort(message: string): string {
  return createHmac('sha256', 'sortkey').update(message).digest('hex')
}

export function body(text: string | Buffer, signature?: string): RawRequest {
  const bytes = Buffer.from(text)
  const right = createHmac('sha256', 'bodykey').update(bytes).digest('hex')
  return {
    method: 'POST',
    url: '/postback/body',
    headers: { 'content-type': 'application/json', 'x-signature': `sha256=${signature ?? right}` },
    body: bytes,
    remoteAddress: '203.0.113.7',
  }
}

/** What became of a call, in one line: the outcome and reason, or the entry that it claims. */
export function verdict(reading: Reading): string {
  if (reading.claim !== null) {
    const { entry, transactionId, user, amount } = reading.claim
    return `${entry} ${transactionId} ${user} ${String(amount)}`
  }
  const { outcome, reason } = reading.outcome ?? { outcome: '', reason: '' }
  return `${reading.verified ? 'verified' : 'unverified'} ${outcome} ${reason ?? ''}`
}
