/**
 * Puts the faults of a configuration into words: the key, the value, what was expected. Secrets are never shown.
 *
 * @module
 */
import { PaidonceError } from '../errors.js'
import type { ConfigFault } from './config-schema.js'
import { redactDatabaseUrl } from './database-url.js'
import { nearestKey } from './nearest-key.js'

const MAX_FAULTS = 10
const SECRET_KEY = /^(secret|previousSecrets|adminToken)$/

/** One sentence about a value that is not what it should be. */
export function faultSentence(key: string, value: unknown, expected: string): string {
  const name = key.split(/[.[]/)
  if (value === undefined) return `${key} is missing; expected ${expected}.`
  if (name.some((part) => SECRET_KEY.test(part))) {
    return `${key} has a wrong value (not shown); expected ${expected}.`
  }
  return `${key} is ${shown(name.at(-1) === 'database' ? redacted(value) : value)}; expected ${expected}.`
}

function redacted(value: unknown): unknown {
  return typeof value === 'string' ? redactDatabaseUrl(value) : value
}

function shown(value: unknown): string {
  const json = typeof value === 'function' ? 'a function' : (JSON.stringify(value) as string | undefined)
  const text = json ?? String(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

/** Makes the one error that reports every fault of a file. */
export function configError(source: string, config: unknown, faults: readonly ConfigFault[]): PaidonceError {
  const sentences = faults.slice(0, MAX_FAULTS).map((fault) => sentenceOf(fault, config))
  const more = faults.length > MAX_FAULTS ? [`And ${faults.length - MAX_FAULTS} more.`] : []
  return new PaidonceError('config_invalid', [...sentences, ...more].join('\n'), {
    hint: `Correct ${source}.`,
  })
}

function sentenceOf(fault: ConfigFault, config: unknown): string {
  const key = keyText(fault.path)
  if (fault.expected !== null) {
    return faultSentence(key === '' ? 'The configuration' : key, valueAt(config, fault.path), fault.expected)
  }
  const near = nearestKey(String(fault.path.at(-1)), fault.knownKeys)
  const advice =
    near === null ? `expected one of ${fault.knownKeys.join(', ')}` : `did you mean ${JSON.stringify(near)}?`
  return `${key} is no known key${near === null ? `; ${advice}.` : `: ${advice}`}`
}

function keyText(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  )
}

function valueAt(config: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null
        ? (value as Record<string | number, unknown>)[part]
        : undefined,
    config,
  )
}
