/**
 * @module
 */
import { readFileSync } from 'node:fs'

/** The version of this package, read from its own package.json, which stands above `src` and `dist` alike. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
