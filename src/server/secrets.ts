/**
 * Reads a network's secrets from where the configuration says they are. No message here ever holds a value.
 *
 * @module
 */
import { resolve } from 'node:path'
import { PaidonceError } from '../errors.js'
import type { SecretSource } from './settings.js'
import { readValueFile } from './value-file.js'

/** A secret and the sentence that `doctor` prints about its origin. */
export interface ReadSecret {
  readonly value: string
  readonly origin: string
}

/**
 * Reads one secret.
 *
 * @param key where it stands, such as `networks.sharklio.secret`
 * @param folder what relative file names are relative to
 * @throws PaidonceError `config_invalid` where it is empty, missing or has white space at its ends: a stray blank
 * would make every signature wrong without a word
 */
export async function readSecret(
  source: SecretSource,
  key: string,
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
): Promise<ReadSecret> {
  if (typeof source === 'string') return { value: checked(source, key, 'given as text'), origin: 'config' }
  if ('env' in source) {
    const value = env[source.env]
    if (value === undefined) throw missing(key, `the environment variable ${source.env}, which is not set`)
    return { value: checked(value, key, `read from ${source.env}`), origin: `environment ${source.env}` }
  }
  const path = resolve(folder, source.file)
  const value = await readValueFile(path, key)
  return { value: checked(value, key, `read from ${path}`), origin: `file ${path}` }
}

function missing(key: string, where: string): PaidonceError {
  return new PaidonceError('config_invalid', `${key} is to be read from ${where}.`, {
    hint: 'Set it to the secret that the network shows for this placement.',
  })
}

function checked(value: string, key: string, where: string): string {
  if (value === '') {
    throw new PaidonceError('config_invalid', `${key}, ${where}, is empty; expected the network's secret.`, {
      hint: 'Copy the secret from the network; without it nobody can tell its calls from forged ones.',
    })
  }
  if (value.trim() !== value) {
    throw new PaidonceError(
      'config_invalid',
      `${key}, ${where}, has white space at its ends; expected the secret alone.`,
      { hint: 'Remove the blanks and line breaks around the secret; its value is not shown here.' },
    )
  }
  return value
}
