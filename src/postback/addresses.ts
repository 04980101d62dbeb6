/**
 * Lists of allowed sender addresses.
 *
 * @module
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** An allow-list, and its entries as they were written. */
export interface AddressList {
  readonly entries: readonly string[]
  readonly list: BlockList
}

/** Adds one address or CIDR; false where the text is neither. */
export function addAddress(list: BlockList, entry: string): boolean {
  const [address = '', prefixText, ...rest] = entry.split('/')
  const plain = unmapped(address)
  const family = isIPv4(plain) ? 'ipv4' : isIPv6(plain) && !plain.includes('%') ? 'ipv6' : null
  if (family === null || rest.length > 0) return false
  if (prefixText === undefined) {
    list.addAddress(plain, family)
    return true
  }
  if (!/^(0|[1-9]\d{0,2})$/.test(prefixText)) return false
  const prefix = Number(prefixText) - (plain === address ? 0 : 96)
  if (prefix < 0 || prefix > (family === 'ipv4' ? 32 : 128)) return false
  list.addSubnet(plain, prefix, family)
  return true
}

/** Whether an address stands on the list; an IPv4 address is the same however the socket spells it. */
export function isListed({ list }: AddressList, address: string): boolean {
  const plain = unmapped(address.replace(/%.*$/, ''))
  if (isIPv4(plain)) return list.check(plain, 'ipv4')
  return isIPv6(plain) && list.check(plain, 'ipv6')
}

/** `::ffff:203.0.113.7` is how a dual-stack socket spells 203.0.113.7. */
function unmapped(address: string): string {
  const match = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  return match?.[1] !== undefined && isIPv4(match[1]) ? match[1] : address
}
