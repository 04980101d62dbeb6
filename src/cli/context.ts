/**
 * What every command is given, and the settings and stores that commands work with.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { PaidonceError } from '../errors.js'
import type { LedgerStore } from '../ledger/store.js'
import type { LoadedSettings, SettingFlags } from '../server/config.js'
import type { Settings } from '../server/settings.js'
import { demoConfig, demoExists } from './demo.js'
import type { CliIo } from './io.js'
import { createOutput, type Output } from './output.js'

/** Flags that every command takes. */
export interface GlobalOptions extends SettingFlags {
  readonly json?: boolean
  readonly color?: boolean
}

export interface Context {
  readonly io: CliIo
  readonly out: Output
  readonly flags: SettingFlags
}

/** One command: its options (global ones included) and its arguments; resolves to the exit status. */
export type CommandRun<O> = (context: Context, options: O, args: readonly string[]) => Promise<number>

export function createContext(io: CliIo, options: GlobalOptions): Context {
  const { json = false, color = true, config, database, port, host, adminPort, logLevel } = options
  return {
    io,
    out: createOutput(io, { json, color }),
    flags: { config, database, port, host, adminPort, logLevel },
  }
}

/**
 * Reads the settings. In a folder where the demo has run and no configuration is found, the demo's are used, and the
 * reader is told.
 */
export async function readSettings({ io, out, flags }: Context): Promise<LoadedSettings> {
  const { loadSettings } = await import('../server/config.js')
  const { env, cwd } = io
  const loaded = await loadSettings({ flags, env, cwd })
  if (loaded.settings.configFile !== null || !demoExists(cwd)) return loaded
  out.note(`No configuration was found; using the demo's in ${resolve(cwd, 'data')}.`)
  return loadSettings({ flags, env, cwd, fallback: demoConfig(cwd) })
}

/**
 * Runs `work` on the configured store and closes it. The schema is checked and never changed.
 *
 * @throws PaidonceError `database_away` where an SQLite file does not exist, which opening would create
 */
export async function withStore<T>(settings: Settings, work: (store: LedgerStore) => Promise<T>): Promise<T> {
  refuseMissingFile(settings)
  const { openStore } = await import('../server/open-store.js')
  const store = await openStore({ ...settings, migrate: settings.migrate === 'off' ? 'off' : 'check' })
  try {
    await store.start()
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Refuses a database file that is not there: reading from it would leave an empty one behind. */
export function refuseMissingFile({ database }: Pick<Settings, 'database'>): void {
  if (!database.startsWith('sqlite:')) return
  const path = database.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '')
  if (path.startsWith(':') || existsSync(path)) return
  throw new PaidonceError('database_away', `There is no database file at ${JSON.stringify(path)}.`, {
    hint: 'Run "paidonce migrate" or start the server to make it, or name another with --database.',
  })
}

/** Turns an imported command into commander's action. */
export type RunLazily = <O extends GlobalOptions>(
  load: () => Promise<CommandRun<O>>,
) => (...given: unknown[]) => Promise<void>
