/**
 * Every secret that the settings hold.
 *
 * @module
 */
import type { Settings } from './settings.js'

/** The secrets that no line of the log may show, whatever a caller or a driver puts into it. */
export function knownSecrets({
  networks,
  adminToken,
  database,
}: Pick<Settings, 'networks' | 'adminToken' | 'database'>): string[] {
  const secrets = Object.values(networks).flatMap(({ secret, previousSecrets = [] }) => [
    secret,
    ...previousSecrets,
  ])
  return [...secrets, adminToken, passwordOf(database)].filter((secret) => typeof secret === 'string')
}

function passwordOf(database: string): string | null {
  if (!URL.canParse(database)) return null
  const { password } = new URL(database)
  try {
    return decodeURIComponent(password)
  } catch {
    return password
  }
}
