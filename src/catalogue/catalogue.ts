/**
 * The profiles that come with Paidonce.
 *
 * @module
 */
import { configFault, isFields, nearestName } from '../postback/config-fault.js'
import type { NetworkProfile } from '../postback/profile.js'
import { CATALOGUE } from './profiles.generated.js'
import { validateProfile } from './validate-profile.js'

const checked = new Map<string, NetworkProfile>()

/** A profile of the catalogue, or null. */
export function findProfile(name: string): NetworkProfile | null {
  const known = checked.get(name)
  if (known !== undefined) return known
  const entry = entryOf(name)
  if (entry === null) return null
  const profile = validateProfile(entry.profile, `catalogue/${name}/profile.json`)
  checked.set(name, profile)
  return profile
}

/** The names of all profiles, in alphabetical order. */
export function profileNames(): string[] {
  return Object.keys(CATALOGUE).sort()
}

/** Where the URL goes in a network's dashboard, as Markdown; null for an unknown name. */
export function setupText(name: string): string | null {
  return entryOf(name)?.setup ?? null
}

/**
 * A catalogue name or an inline profile as a checked profile.
 *
 * @param key what messages call it, such as `networks.acme.profile`.
 * @throws PaidonceError `config_invalid`, with names that are near.
 */
export function lookUpProfile(reference: unknown, key: string): NetworkProfile {
  if (isFields(reference)) return validateProfile(reference, key)
  const names = profileNames()
  if (typeof reference !== 'string') {
    throw configFault(key, reference, 'the name of a profile in the catalogue, or a profile')
  }
  const profile = findProfile(reference)
  if (profile !== null) return profile
  const near = nearestName(reference, names)
  throw configFault(
    key,
    reference,
    'the name of a profile in the catalogue, or a profile',
    near === null ? `The catalogue has: ${names.join(', ')}.` : `Did you mean "${near}"?`,
  )
}

function entryOf(name: string): { readonly profile: unknown; readonly setup: string } | null {
  return Object.hasOwn(CATALOGUE, name) ? (CATALOGUE[name] ?? null) : null
}
