/**
 * The configured networks as the admin API needs them: resolved, with what must not be shown of their calls.
 *
 * @module
 */
import { lookUpProfile } from '../catalogue/index.js'
import { wireName } from '../postback/profile.js'
import { resolveNetwork, type Network } from '../postback/network.js'
import type { AdminNetwork } from './admin-context.js'
import type { Settings } from './settings.js'

/** @throws PaidonceError `config_invalid` where a network cannot be resolved */
export function resolveAdminNetworks(
  settings: Pick<Settings, 'networks' | 'publicUrl'>,
): ReadonlyMap<string, AdminNetwork> {
  return new Map(
    Object.entries(settings.networks).map(([name, config]) => {
      const network = resolveNetwork(name, config, lookUpProfile, { publicUrl: settings.publicUrl })
      const secrets = [config.secret, ...(config.previousSecrets ?? [])].filter(
        (secret) => secret !== undefined,
      )
      return [name, { network, redact: { names: tokenNames(network), secrets } }]
    }),
  )
}

/** The parameters in which a network sends its secret as it is. */
function tokenNames({ profile }: Network): string[] {
  const field = profile.fields['signature']
  if (profile.signature === null || !('token' in profile.signature) || field === undefined) return []
  return [wireName(field)]
}
