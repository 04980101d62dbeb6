/**
 * Database URLs: what they name, and how they are shown without a password.
 *
 * @module
 */
import { PaidonceError } from '../errors.js'

/** Where a database URL leads. */
export type DatabaseTarget =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres' | 'mysql'; readonly url: string }

/**
 * Reads a database URL: `sqlite:PATH`, `postgres://`, `postgresql://`, `mysql://` or `mariadb://`.
 *
 * @throws PaidonceError `config_invalid` for anything else
 */
export function parseDatabaseUrl(url: string): DatabaseTarget {
  if (url.startsWith('sqlite:')) {
    const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')
    if (path !== '') return { kind: 'sqlite', path }
  }
  if (/^postgres(ql)?:\/\/./.test(url) && URL.canParse(url)) return { kind: 'postgres', url }
  if (/^(mysql|mariadb):\/\/./.test(url) && URL.canParse(url)) {
    return { kind: 'mysql', url: url.replace(/^mariadb:/, 'mysql:') }
  }
  throw new PaidonceError(
    'config_invalid',
    `database is ${JSON.stringify(redactDatabaseUrl(url))}; expected sqlite:PATH, or a postgres://, postgresql://, mysql:// or mariadb:// URL.`,
    { hint: 'Set --database, PAIDONCE_DATABASE_URL, or "database" in the configuration file.' },
  )
}

/**
 * The URL as it may be shown: password and secret-looking parameters replaced by `***`. A password with an unescaped
 * "/" or "#" ends the host as URLs are read, so everything up to the last "@" is hidden.
 */
export function redactDatabaseUrl(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:(?:\/\/)?[^:/?#@]*:).*@/i, '$1***@')
    .replace(/([?&][^=&#]*(?:pass|secret|token|key)[^=&#]*=)[^&#]*/gi, '$1***')
}
