/**
 * Whether a network that a filter names exists at all: a misspelt one would find nothing without a word.
 *
 * @module
 */
import type { LedgerStore } from '../ledger/store.js'
import type { Settings } from '../server/settings.js'
import { unknownNetwork } from './network-tools.js'

/**
 * Refuses names that are neither configured nor known to the ledger or the inbox.
 *
 * @throws PaidonceError `usage`, naming the first and the configured ones
 */
export async function refuseUnknownNetworks(
  store: Pick<LedgerStore, 'usedIdSpaces' | 'listPostbacks'>,
  settings: Pick<Settings, 'networks'>,
  names: readonly string[],
): Promise<void> {
  const configured = new Set(
    Object.entries(settings.networks).flatMap(([name, { formerly = [] }]) => [name, ...formerly]),
  )
  const open = names.filter((name) => !configured.has(name))
  if (open.length === 0) return
  const used = new Set((await store.usedIdSpaces()).flatMap(({ idSpace, network }) => [idSpace, network]))
  for (const name of open) {
    if (used.has(name)) continue
    // A network that is gone may have left calls and no entry.
    const { items } = await store.listPostbacks({ network: [name] }, { limit: 1, cursor: null })
    if (items.length === 0) throw unknownNetwork(settings, name)
  }
}
