/**
 * The configured networks as commands need them: which one a URL reaches, what a call asks for, where calls go.
 *
 * @module
 */
import { lookUpProfile } from '../catalogue/catalogue.js'
import type { PaidonceError } from '../errors.js'
import { resolveNetwork, type Network } from '../postback/network.js'
import { readPostback, type Reading } from '../postback/read.js'
import type { NetworkProfile } from '../postback/profile.js'
import { resolveIdSpaces, type UsedIdSpace } from '../receiver/id-spaces.js'
import { SETTING_RULES } from '../server/setting-rules.js'
import type { NetworkSettings, Settings } from '../server/settings.js'
import { usageError } from './failure.js'
import type { HttpCall } from './http-call.js'

/**
 * The settings of a network by its name.
 *
 * @throws PaidonceError `usage` where it is not configured
 */
export function networkNamed(settings: Settings, name: string): NetworkSettings {
  const network = Object.hasOwn(settings.networks, name) ? settings.networks[name] : undefined
  if (network !== undefined) return network
  throw unknownNetwork(settings, name)
}

/** The refusal of a network that is not configured, with the ones that are. */
export function unknownNetwork({ networks }: Pick<Settings, 'networks'>, name: string): PaidonceError {
  const names = Object.keys(networks)
  return usageError(
    `The network ${JSON.stringify(name)} is not configured.`,
    names.length === 0
      ? 'No network is: write a configuration with "paidonce init --network NAME --profile PROFILE".'
      : `Configured are: ${names.join(', ')}.`,
  )
}

/** The checked profile of a network, with the publisher's parameter names not yet put in. */
export function profileOf(name: string, { profile }: NetworkSettings): NetworkProfile {
  return lookUpProfile(profile, `networks.${name}.profile`)
}

/** A network arranged for reading calls. */
export function resolveNamed(settings: Settings, name: string): Network {
  return resolveNetwork(name, networkNamed(settings, name), lookUpProfile, { publicUrl: settings.publicUrl })
}

/** The name of the network that a request target reaches, or null. */
export function networkOfTarget(settings: Settings, target: string): string | null {
  const path = target.split('?', 1)[0] ?? ''
  const byPath = Object.entries(settings.networks).find(([, { paths }]) => paths?.includes(path) === true)
  if (byPath !== undefined) return byPath[0]
  const match = /\/postback\/([^/]+)(?:\/reversal)?\/?$/.exec(path)
  if (match?.[1] === undefined) return null
  try {
    return decodeURIComponent(match[1])
  } catch {
    return null
  }
}

/** What a call asks for, read as the receiver would read it. Its sender's address is not judged here. */
export function readCall(settings: Settings, name: string, call: HttpCall): Reading {
  const network = { ...resolveNamed(settings, name), allowedIps: null }
  const headers = Object.fromEntries(
    Object.entries(call.headers).map(([header, value]) => [header.toLowerCase(), value]),
  )
  const { method, target: url, body } = call
  return readPostback({ method, url, headers, body, remoteAddress: '' }, network, {
    amountScale: settings.amountScale,
    postbackId: 'check',
  })
}

/**
 * The id spaces under which entries of a network may stand: the one that the receiver books under, or, for a name that
 * is not configured any more, every one that was used.
 */
export function idSpacesOf(settings: Settings, name: string, used: readonly UsedIdSpace[]): string[] {
  if (!Object.hasOwn(settings.networks, name)) {
    const found = used.filter(({ network, idSpace }) => network === name || idSpace === name)
    return [...new Set([name, ...found.map(({ idSpace }) => idSpace)])]
  }
  const network = resolveNamed(settings, name)
  const own = new Set([network.idSpace, name, ...network.formerly])
  const spaces = resolveIdSpaces(
    [network],
    used.filter(({ idSpace }) => own.has(idSpace)),
  )
  return [spaces.get(name) ?? network.idSpace]
}

/** Where the receiver of these settings is called: its public address, or this machine's. */
export function receiverBase(settings: Settings): string {
  return (settings.publicUrl ?? localOrigin(settings, settings.port)).replace(/\/$/, '')
}

/** The admin API of these settings on this machine. */
export function adminOrigin(settings: Settings): string {
  return localOrigin(settings, settings.adminPort ?? settings.port)
}

/**
 * The admin API beside a receiver at `origin`, unless it is given.
 *
 * @throws PaidonceError `usage` where the given one is no address
 */
export function adminAddress(settings: Settings, origin: string, given: string | undefined): string {
  if (given === undefined) return origin === receiverBase(settings) ? adminOrigin(settings) : origin
  if (SETTING_RULES.publicUrl.accepts(given)) return given.replace(/\/$/, '')
  throw usageError(
    `--admin-url is no http:// or https:// address without user and query.`,
    'Give the address of the admin API, such as http://127.0.0.1:8790.',
  )
}

/**
 * The address of one network: the base itself where it has a path of its own, else the base with
 * `/postback/NETWORK`.
 */
export function postbackAddress(base: string, name: string): string {
  const plain = base.replace(/\/$/, '')
  if (!/^https?:\/\/[^/?#\s]+(\/[^?#\s]*)?$/i.test(plain)) {
    throw usageError(
      `${JSON.stringify(base)} is no http:// or https:// address without a query.`,
      'Give the address of the receiver, such as http://127.0.0.1:8790.',
    )
  }
  return /^https?:\/\/[^/]+$/i.test(plain) ? `${plain}/postback/${encodeURIComponent(name)}` : plain
}

/** The address that a network calls: its own public address, or the receiver's with `/postback/NETWORK`. */
export function networkAddress(
  name: string,
  { publicUrl }: Pick<NetworkSettings, 'publicUrl'>,
  base: string,
): string {
  if (publicUrl !== undefined) return postbackAddress(publicUrl, name)
  return `${base.replace(/\/$/, '')}/postback/${encodeURIComponent(name)}`
}

/** The further addresses of a network. Its paths are exact, so that they stand at the host and below nothing else. */
export function pathAddresses(
  { publicUrl, paths = [] }: Pick<NetworkSettings, 'publicUrl' | 'paths'>,
  base: string,
): string[] {
  const root = publicUrl === undefined ? base.replace(/\/$/, '') : new URL(publicUrl).origin
  return paths.map((path) => root + path)
}

/** An address that listens everywhere is called by the loopback address. */
function localOrigin({ host }: Settings, port: number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}
