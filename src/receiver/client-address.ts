/**
 * The address that really sent a call. Proxies are looked through from the right, and only those that the
 * configuration trusts: everything left of the first untrusted address was written by the caller itself.
 *
 * @module
 */
import { isIP } from 'node:net'
import proxyaddr from 'proxy-addr'
import { PaidonceError } from '../errors.js'
import type { ReceiverRequest } from './types.js'

export type ClientAddress = (request: Pick<ReceiverRequest, 'headers' | 'remoteAddress'>) => string

/** @throws PaidonceError `config_invalid` where an entry is no address or range. */
export function compileClientAddress(
  trustProxy: boolean | number | readonly string[] = false,
): ClientAddress {
  if (trustProxy === false || trustProxy === 0) {
    // Calls come from a handful of addresses, so the last one is usually this one.
    let last = { from: '', plain: '' }
    return ({ remoteAddress: from }) => {
      if (from !== last.from) last = { from, plain: plain(from) ?? from }
      return last.plain
    }
  }
  const trust = compileTrust(trustProxy)
  return ({ headers, remoteAddress }) => {
    const forwarded = headers['x-forwarded-for']
    const request = {
      headers: { 'x-forwarded-for': typeof forwarded === 'string' ? forwarded : (forwarded ?? []).join(',') },
      socket: { remoteAddress },
    }
    // What a header holds may be any text; only an address may pass for one.
    return (
      plain(proxyaddr(request as unknown as Parameters<typeof proxyaddr>[0], trust)) ??
      plain(remoteAddress) ??
      remoteAddress
    )
  }
}

function compileTrust(
  trustProxy: true | number | readonly string[],
): (address: string, hop: number) => boolean {
  if (trustProxy === true) return () => true
  if (typeof trustProxy === 'number') return (_address, hop) => hop < trustProxy
  try {
    return proxyaddr.compile([...trustProxy])
  } catch (cause) {
    throw new PaidonceError('config_invalid', `trustProxy is ${JSON.stringify(trustProxy)}.`, {
      hint: 'Give false, the number of proxies in front, or a list of their addresses and CIDRs such as "10.0.0.0/8".',
      cause,
    })
  }
}

/** An IPv4 address as such, also where a dual-stack socket shows it inside IPv6; a port that a proxy added is cut. */
function plain(address: string): string | null {
  const bare = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1] ?? bare
  return isIP(mapped) === 0 ? null : mapped
}
