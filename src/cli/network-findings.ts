/**
 * What doctor says about a configured network: whether it resolves, and what its signature leaves open.
 *
 * @module
 */
import type { StoreFinding } from '../ledger/store.js'
import { templateParts } from '../postback/message.js'
import type { Network } from '../postback/network.js'
import type { NetworkProfile } from '../postback/profile.js'
import type { Settings } from '../server/settings.js'
import { failureOf } from './failure.js'
import { resolveNamed } from './network-tools.js'

/** Judges one network of the settings. */
export function networkFindings(settings: Settings, name: string): StoreFinding[] {
  const check = `networks.${name}`
  try {
    return judgeNetwork(resolveNamed(settings, name), check)
  } catch (error) {
    const { message, hint } = failureOf(error)
    return [{ check, severity: 'refuse', message, cure: hint }]
  }
}

function judgeNetwork(network: Network, check: string): StoreFinding[] {
  const { profile, secrets, allowedIps, tests, paths } = network
  const signed =
    profile.signature === null ? 'unsigned' : `${secrets.length} secret${secrets.length === 1 ? '' : 's'}`
  const from = allowedIps === null ? 'any address' : `${allowedIps.entries.length} allowed addresses`
  const also = paths.length === 0 ? '' : `, also at ${paths.join(', ')}`
  const findings: StoreFinding[] = [
    {
      check,
      severity: 'ok',
      message: `profile ${profile.id}, ${signed}, from ${from}, tests: ${tests}${also}.`,
      cure: null,
    },
  ]
  if (profile.unconfirmed) {
    findings.push({
      check,
      severity: 'warn',
      message: `The formula of profile ${profile.id} is known from third-party code alone.`,
      cure: 'Send a test postback from the network and look at it with "paidonce inbox list" before you go live.',
    })
  }
  const open = unsignedRoles(profile)
  if (open.length > 0) {
    findings.push({
      check,
      severity: 'warn',
      message: `The signature does not cover ${open.join(', ')}: who sees one signed call can change ${open.length === 1 ? 'it' : 'them'} and send it.`,
      cure:
        allowedIps === null
          ? 'Limit the senders with "allowedIps" to the addresses that the network names.'
          : 'The allowed addresses close this.',
    })
  }
  return findings
}

const DECISIVE = ['transactionId', 'user', 'amount', 'status'] as const

/** The roles that decide about money and that a forger could change without breaking the signature. */
export function unsignedRoles({ signature, fields }: NetworkProfile): string[] {
  const known = DECISIVE.filter((role) => fields[role] !== undefined)
  if (signature === null || 'token' in signature) return known
  const { message } = signature
  if ('template' in message) {
    const covered = new Set(templateParts(message.template).map(({ role }) => role))
    return known.filter((role) => !covered.has(role))
  }
  if ('sortedPairs' in message) return known.filter((role) => message.sortedPairs.without.includes(role))
  if ('query' in message && 'before' in message.query) {
    const { after } = message.query
    return known.filter((role) => after.includes(role))
  }
  return []
}
