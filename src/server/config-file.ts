/**
 * Finds and loads the configuration file.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { PaidonceError } from '../errors.js'

/** The names looked for in the working directory, in no order: two of them at once are refused. */
export const CONFIG_FILE_NAMES = ['ts', 'js', 'mjs', 'json'].map((ending) => `paidonce.config.${ending}`)

export interface LoadedConfig {
  /** Absolute path. */
  readonly file: string
  readonly folder: string
  readonly config: unknown
}

/**
 * Loads the file that was named, or the one in `cwd`; null where none was named and none is there.
 *
 * @throws PaidonceError `config_invalid` where the named file does not exist, several files compete, or the file
 * cannot be evaluated
 */
export async function loadConfigFile(named: string | null, cwd: string): Promise<LoadedConfig | null> {
  const file = named === null ? findIn(cwd) : resolve(cwd, named)
  if (file === null) return null
  if (!existsSync(file)) {
    throw new PaidonceError(
      'config_invalid',
      `The configuration file ${JSON.stringify(file)} does not exist.`,
      {
        hint: 'Give the path of an existing file with --config or PAIDONCE_CONFIG, or write one with "paidonce init".',
      },
    )
  }
  return { file, folder: dirname(file), config: await evaluate(file) }
}

function findIn(cwd: string): string | null {
  const found = CONFIG_FILE_NAMES.filter((name) => existsSync(join(cwd, name)))
  if (found.length > 1) {
    // Picking one in silence could run with yesterday's secrets or another database.
    throw new PaidonceError(
      'config_invalid',
      `There are ${found.length} configuration files in ${cwd}: ${found.join(', ')}.`,
      {
        hint: 'Keep one of them, or name the one to use with --config.',
      },
    )
  }
  return found[0] === undefined ? null : join(cwd, found[0])
}

async function evaluate(file: string): Promise<unknown> {
  const { lilconfig, defaultLoaders } = await import('lilconfig')
  try {
    const loaded = await lilconfig('paidonce', {
      cache: false,
      loaders: { ...defaultLoaders, '.ts': loadTypeScript },
    }).load(file)
    return loaded?.isEmpty === true ? {} : (loaded?.config as unknown)
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)
    throw new PaidonceError('config_invalid', `The configuration file ${file} cannot be read: ${reason}`, {
      hint: 'Correct the file; it must be valid on its own and export the configuration as its default.',
      cause,
    })
  }
}

async function loadTypeScript(file: string): Promise<unknown> {
  const { createJiti } = await import('jiti')
  return createJiti(import.meta.url, { moduleCache: false, fsCache: false }).import(file, { default: true })
}
