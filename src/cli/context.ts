/**
 * What every command is given, and the settings and stores that commands work with.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { PaidonceError } from '../errors.js'
import type { LedgerStore } from '../ledger/store.js'
import type { LoadedSettings, PaidonceConfig, SettingFlags } from '../server/config.js'
import type { Settings } from '../server/settings.js'
import { demoConfig, demoExists } from './demo.js'
import { usageError } from './failure.js'
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
export async function readSettings(context: Context): Promise<LoadedSettings> {
  const { cwd } = context.io
  const loaded = await readSources(context)
  if (loaded.settings.configFile !== null || !demoExists(cwd)) return loaded
  context.out.note(`No configuration was found; using the demo's in ${resolve(cwd, 'data')}.`)
  return readSources(context, demoConfig(cwd))
}

/**
 * Reads the settings from their sources and nothing else.
 *
 * @param fallback the configuration where no file is named and none is found
 * @throws PaidonceError `usage` where --config names no file
 */
export async function readSources(
  { io: { env, cwd }, flags }: Context,
  fallback?: PaidonceConfig,
): Promise<LoadedSettings> {
  if (flags.config !== undefined && !existsSync(resolve(cwd, flags.config))) {
    throw usageError(
      `--config is ${JSON.stringify(flags.config)}, and there is no file of this name.`,
      'Give the path of an existing file, or write one with "paidonce init --config".',
    )
  }
  const { loadSettings } = await import('../server/config.js')
  return loadSettings({ flags, env, cwd, ...(fallback === undefined ? {} : { fallback }) })
}

/**
 * Runs `work` on the configured store and closes it. The schema is checked and never changed.
 *
 * @throws PaidonceError `database_away` where an SQLite file does not exist, which opening would create;
 * `ledger_mismatch` where the database is not the one that `ledgerId` names
 */
export async function withStore<T>(settings: Settings, work: (store: LedgerStore) => Promise<T>): Promise<T> {
  refuseMissingFile(settings)
  const { openStore } = await import('../server/open-store.js')
  const store = await openStore({ ...settings, migrate: settings.migrate === 'off' ? 'off' : 'check' })
  try {
    await refuseOtherLedger(settings, store)
    await store.start()
    // A database that was away for the first look is asked again.
    await refuseOtherLedger(settings, store)
    return await work(store)
  } finally {
    await store.close()
  }
}

/**
 * Refuses a database that is not the one that `ledgerId` names, such as a restored copy: a command must not book into it
 * any more than the server.
 *
 * @throws PaidonceError `ledger_mismatch`
 */
export async function refuseOtherLedger(
  { ledgerId }: Pick<Settings, 'ledgerId'>,
  store: Pick<LedgerStore, 'readSetting'>,
): Promise<void> {
  if (ledgerId === null) return
  const { checkLedgerId, readLedgerId } = await import('../server/ledger-id.js')
  checkLedgerId(ledgerId, await readLedgerId(store))
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
