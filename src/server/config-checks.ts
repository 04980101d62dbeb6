/**
 * What has to fit together across the settings: names, paths, and who claims what.
 *
 * @module
 */
import { PaidonceError } from '../errors.js'
import type { PaidonceConfig } from './settings.js'

export const NETWORK_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** First path segments that the server answers itself. */
const OWN_SEGMENTS = ['postback', 'api', 'healthz', 'readyz', 'metrics', 'openapi.json', 'dashboard']

/**
 * Checks the names of networks and that no two claim one path.
 *
 * @throws PaidonceError `config_invalid` for the first thing that does not fit
 */
export function checkNetworks(networks: NonNullable<PaidonceConfig['networks']>): void {
  const owners = new Map<string, string>()
  for (const [name, network] of Object.entries(networks)) {
    checkName(name)
    for (const path of network.paths ?? []) {
      checkPath(name, path)
      const owner = owners.get(path)
      if (owner !== undefined) {
        throw invalid(
          `networks.${name}.paths has ${JSON.stringify(path)}, which ${owner === name ? 'stands there twice' : `networks.${owner} claims as well`}; expected each path once.`,
          'Give every path to one network.',
        )
      }
      owners.set(path, name)
    }
    for (const former of network.formerly ?? []) checkFormer(name, former, networks)
  }
}

function checkName(name: string): void {
  if (NETWORK_NAME.test(name) && name !== 'paidonce') return
  throw invalid(
    `networks has the name ${JSON.stringify(name)}; expected 1 to 64 of a-z, 0-9, "_" and "-", beginning with a letter or digit, and not "paidonce".`,
    'The name stands in the postback URL and in every ledger entry: choose a short one.',
  )
}

function checkPath(name: string, path: string): void {
  const segment = path.split('/')[1] ?? ''
  if (!OWN_SEGMENTS.includes(segment)) return
  throw invalid(
    `networks.${name}.paths has ${JSON.stringify(path)}, which the server uses itself; expected a path outside ${OWN_SEGMENTS.map((own) => `/${own}`).join(', ')}.`,
    segment === 'postback'
      ? `/postback/${name} reaches this network without any setting.`
      : 'Choose another path.',
  )
}

function checkFormer(name: string, former: string, networks: NonNullable<PaidonceConfig['networks']>): void {
  if (former !== name && networks[former] === undefined) return
  throw invalid(
    `networks.${name}.formerly has ${JSON.stringify(former)}, which is a configured network; expected names that are gone.`,
    'Remove it from "formerly", or remove the old network.',
  )
}

function invalid(message: string, hint: string): PaidonceError {
  return new PaidonceError('config_invalid', message, { hint })
}
