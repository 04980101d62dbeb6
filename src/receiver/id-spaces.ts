/**
 * The id space of each configured network, held against the ledger: a network that was renamed keeps its keys, and
 * one that vanished from the configuration stops the start, because its late copies would be unknown.
 *
 * @module
 */
import { PaidonceError } from '../errors.js'
import type { Network } from '../postback/network.js'

export type UsedIdSpace = { readonly idSpace: string; readonly network: string }

/**
 * @param used the id spaces and networks of all ledger entries
 * @returns the id space of each network by its name
 * @throws PaidonceError `network_missing` or `config_invalid`
 */
export function resolveIdSpaces(
  networks: Iterable<Network>,
  used: readonly UsedIdSpace[],
): Map<string, string> {
  const spaces = new Map<string, string>()
  const usedSpaces = new Set(used.map(({ idSpace }) => idSpace))
  for (const network of networks) spaces.set(network.name, idSpaceOf(network, usedSpaces))
  const covered = new Set(spaces.values())
  for (const { idSpace, network } of used) {
    if (covered.has(idSpace)) continue
    throw new PaidonceError(
      'network_missing',
      `The ledger holds entries of network "${network}" (id space "${idSpace}"), which no configured network covers.`,
      {
        hint: `Put "${network}" back, or add formerly: ["${network}"] to the network that took its place: its late copies and reversals need it.`,
      },
    )
  }
  return spaces
}

function idSpaceOf({ name, idSpace, formerly }: Network, used: ReadonlySet<string>): string {
  if (idSpace !== name) return idSpace
  const candidates = [...new Set([name, ...formerly])]
  const found = candidates.filter((candidate) => used.has(candidate))
  if (found.length > 1) {
    throw new PaidonceError(
      'config_invalid',
      `networks.${name}: the ledger holds entries under several of its names: ${found.join(', ')}.`,
      { hint: 'Keep them as networks of their own: one network can have only one id space.' },
    )
  }
  // Before the first entry a receiver of the old configuration may still run, and it writes under the oldest name.
  return found[0] ?? formerly.at(-1) ?? name
}
