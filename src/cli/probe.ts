/**
 * Whether a network can reach the receiver: an unsigned call has to come back as 403, and never as a redirect.
 *
 * @module
 */
import type { StoreFinding } from '../ledger/store.js'
import type { Settings } from '../server/settings.js'
import { fireAtOnce, splitUrl, type HttpReply } from './http-call.js'
import { pathAddresses, postbackAddress, resolveNamed } from './network-tools.js'

/** Clocks that differ by more than this make times in reports and windows wrong. */
const CLOCK_LIMIT_MS = 5_000

/** Calls every network's addresses below `url` (or `url` itself, where it has a path) once, unsigned. */
export async function probeNetworks(settings: Settings, url: string): Promise<StoreFinding[]> {
  const findings: StoreFinding[] = []
  const byAddress = new Map<string, string>()
  for (const [name, { paths = [] }] of Object.entries(settings.networks)) {
    const address = postbackAddress(url, name)
    const further = isOrigin(url) ? pathAddresses({ paths }, url) : []
    for (const each of [address, ...further]) if (!byAddress.has(each)) byAddress.set(each, name)
  }
  for (const [address, name] of byAddress) {
    const method = methodOf(settings, name)
    if (method === null) continue
    const call = { ...splitUrl(address), method, headers: {}, body: Buffer.alloc(0) }
    const sentAt = Date.now()
    const [reply] = await fireAtOnce(call, 1)
    if (reply === undefined) continue
    findings.push(judgeReply(`reachability of ${address}`, reply))
    const clock = judgeClock(reply, sentAt, Date.now())
    if (clock !== null && !findings.some(({ check }) => check === 'clock')) findings.push(clock)
  }
  return findings
}

/** Whether an address is a host alone; one with a path is called as it is. */
function isOrigin(url: string): boolean {
  return /^https?:\/\/[^/]+\/?$/i.test(url)
}

/** Null for a network that does not resolve, which has a finding of its own. */
function methodOf(settings: Settings, name: string): string | null {
  try {
    return resolveNamed(settings, name).methods[0] ?? 'GET'
  } catch {
    return null
  }
}

/** What the answer to an unsigned call means. */
export function judgeReply(check: string, reply: HttpReply): StoreFinding {
  if (reply.kind === 'failure') {
    return {
      check,
      severity: 'refuse',
      message: `Nothing answered (${reply.code}).`,
      cure: 'Check that the server runs, that the name resolves, and that the proxy leads to it.',
    }
  }
  const { status } = reply
  if (status === 403) {
    return {
      check,
      severity: 'ok',
      message: 'An unsigned call is answered 403, as it should be.',
      cure: null,
    }
  }
  if (status >= 300 && status < 400) {
    return {
      check,
      severity: 'refuse',
      message: `The answer is a redirect (${status}): networks do not follow it, and every call is lost.`,
      cure: 'Give the network the address that the redirect leads to (https, the right host name, no slash at the end).',
    }
  }
  if (status === 404) {
    return {
      check,
      severity: 'refuse',
      message: 'The answer is 404: nothing receives postbacks at this address.',
      cure: "Check the path and the network's name, and what the proxy does with them.",
    }
  }
  if (status >= 200 && status < 300) {
    return {
      check,
      severity: 'refuse',
      message: `An unsigned call is answered ${status}: something other than the receiver answers, and rewards are lost without a trace.`,
      cure: 'Look for a page, a cache or a challenge of the proxy at this address, and exempt the path from it.',
    }
  }
  return {
    check,
    severity: 'refuse',
    message: `An unsigned call is answered ${status} instead of 403.`,
    cure: "Look at the server's and the proxy's log for this call.",
  }
}

function judgeClock(reply: HttpReply, sentAt: number, receivedAt: number): StoreFinding | null {
  if (reply.kind === 'failure' || reply.date === null) return null
  const there = Date.parse(reply.date)
  // The header has whole seconds, so that it may be up to one second behind.
  const behind = sentAt - 1_000 - there
  const ahead = there - receivedAt
  const difference = Math.max(behind, ahead, 0)
  if (Number.isNaN(difference)) return null
  if (difference <= CLOCK_LIMIT_MS) {
    return {
      check: 'clock',
      severity: 'ok',
      message: "This machine's clock and the server's agree.",
      cure: null,
    }
  }
  return {
    check: 'clock',
    severity: 'warn',
    message: `This machine's clock and the server's differ by ${Math.round(difference / 1000)} s.`,
    cure: 'Let both machines take their time from NTP.',
  }
}
