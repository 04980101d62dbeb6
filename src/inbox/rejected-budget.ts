/**
 * Bounds what unverified calls may write. Forged traffic must neither fill the disk nor push the rejected calls of a
 * real network out of the inbox: those are what an operator looks for after a wrong secret.
 *
 * @module
 */
import { isIPv6 } from 'node:net'

const MINUTE_MS = 60_000
/** All strangers of one network together may write this many times what one address may. */
const STRANGERS_FACTOR = 5
const MAX_KNOWN = 10_000
/** A usual call is smaller than this; what is kept of the largest one (URL and part of the body) is ten times that. */
const USUAL_BYTES = 2_048
const LARGEST_BYTES = 10 * USUAL_BYTES

/** Counts the kept calls of the running minute; made for one receiver. */
export class RejectedBudget {
  readonly #perMinute: number
  readonly #known = new Set<string>()
  /** The last one remembered: a network's calls come from a handful of addresses. */
  #last = { network: '', ip: '' }
  #minute = -1
  readonly #byAddress = new Map<string, number>()
  readonly #strangers = new Map<string, number>()
  #suppressed = 0

  /** @param perMinute calls kept per minute for each network and sender address */
  constructor(perMinute: number) {
    this.#perMinute = perMinute
  }

  /** Calls that were not kept since the start. */
  get suppressed(): number {
    return this.#suppressed
  }

  /** Remembers an address that delivered a verified call: its rejected calls have a reserve of their own. */
  remember(network: string, ip: string): void {
    if (this.#last.ip === ip && this.#last.network === network) return
    this.#last = { network, ip }
    if (this.#known.size < MAX_KNOWN) this.#known.add(senderOf(network, ip))
  }

  /** Whether this call may be kept; counts it if so. A large one counts as several. */
  allows(network: string, ip: string, bytes: number, nowMs: number): boolean {
    const minute = Math.floor(nowMs / MINUTE_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#byAddress.clear()
      this.#strangers.clear()
    }
    const sender = senderOf(network, ip)
    const stranger = !this.#known.has(sender)
    const count = this.#byAddress.get(sender) ?? 0
    const strangers = this.#strangers.get(network) ?? 0
    if (count >= this.#perMinute || (stranger && strangers >= this.#perMinute * STRANGERS_FACTOR)) {
      this.#suppressed += 1
      return false
    }
    const weight = Math.max(1, Math.ceil(Math.min(bytes, LARGEST_BYTES) / USUAL_BYTES))
    this.#byAddress.set(sender, count + weight)
    if (stranger) this.#strangers.set(network, strangers + weight)
    return true
  }
}

/** One sender is one IPv4 address or one IPv6 /64, because a single host commands a whole /64. */
function senderOf(network: string, ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)
  if (mapped?.[1] !== undefined) return `${network}\u0000${mapped[1]}`
  if (!isIPv6(ip)) return `${network}\u0000${ip}`
  const [head = '', tail] = ip.split('::')
  const groups = head === '' ? [] : head.split(':')
  const rest = tail === undefined || tail === '' ? [] : tail.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - rest.length
  const full = [...groups, ...Array.from({ length: Math.max(0, missing) }, () => '0'), ...rest]
  return `${network}\u0000${full
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}`
}
