/**
 * The address of a call as it may be shown.
 *
 * @module
 */
import { redactUrl } from '../inbox/redact.js'
import { resolveAdminNetworks } from '../server/admin-networks.js'
import type { Settings } from '../server/settings.js'
import type { HttpCall } from './http-call.js'

/** Origin and target of a call, without what its network must not have shown: some send their secret as it is. */
export function shownUrl(
  settings: Settings,
  network: string | null,
  { origin, target }: Pick<HttpCall, 'origin' | 'target'>,
): string {
  return origin + redactUrl(target, network === null ? {} : redactionOf(settings, network))
}

function redactionOf({ networks, publicUrl }: Settings, name: string): Parameters<typeof redactUrl>[1] {
  const network = Object.hasOwn(networks, name) ? networks[name] : undefined
  if (network === undefined) return {}
  return resolveAdminNetworks({ networks: { [name]: network }, publicUrl }).get(name)?.redact ?? {}
}
