/**
 * Reads every setting from its sources.
 *
 * @module
 */
import { configError } from './config-faults.js'
import { checkNetworks } from './config-checks.js'
import { loadConfigFile, type LoadedConfig } from './config-file.js'
import { readSecret } from './secrets.js'
import { SETTING_RULES } from './setting-rules.js'
import { findSetting, readVariable, type Environment, type SettingNames } from './setting-sources.js'
import {
  DEFAULT_SETTINGS,
  type NetworkEntry,
  type NetworkSettings,
  type PaidonceConfig,
  type SecretSource,
  type Settings,
} from './settings.js'

export { defineConfig } from './settings.js'
export type { PaidonceConfig, Settings } from './settings.js'

/** Flags of the command line that are settings; what is absent was not given. */
export interface SettingFlags {
  readonly config?: string | undefined
  readonly database?: string | undefined
  readonly port?: string | number | undefined
  readonly host?: string | undefined
  readonly adminPort?: string | number | undefined
  readonly logLevel?: string | undefined
}

export interface LoadSettingsOptions {
  readonly flags?: SettingFlags
  readonly env?: Environment
  readonly cwd?: string
  /** Used as the configuration where no file is named and none is found, as the demo does. */
  readonly fallback?: PaidonceConfig
}

export interface LoadedSettings {
  readonly settings: Settings
  /** For each setting (`port`, `networks.sharklio.secret`) where its value came from. */
  readonly origins: Readonly<Record<string, string>>
}

const PLAIN_SETTINGS: readonly (SettingNames & { readonly key: keyof typeof SETTING_RULES })[] = [
  { key: 'database', flag: 'database', variable: 'PAIDONCE_DATABASE_URL', plainVariable: 'DATABASE_URL' },
  { key: 'port', flag: 'port', variable: 'PAIDONCE_PORT', plainVariable: 'PORT' },
  { key: 'host', flag: 'host', variable: 'PAIDONCE_HOST', plainVariable: 'HOST' },
  { key: 'adminPort', flag: 'admin-port', variable: 'PAIDONCE_ADMIN_PORT' },
  { key: 'adminToken', variable: 'PAIDONCE_ADMIN_TOKEN', inFile: false },
  { key: 'publicUrl', variable: 'PAIDONCE_PUBLIC_URL' },
  { key: 'trustProxy', variable: 'PAIDONCE_TRUST_PROXY' },
  { key: 'logLevel', flag: 'log-level', variable: 'PAIDONCE_LOG_LEVEL', plainVariable: 'LOG_LEVEL' },
  { key: 'amountScale' },
  { key: 'unknownUser' },
  { key: 'migrate', variable: 'PAIDONCE_MIGRATE' },
  { key: 'outbox' },
  { key: 'ledgerId', variable: 'PAIDONCE_LEDGER_ID' },
  { key: 'pooler', variable: 'PAIDONCE_POOLER' },
  { key: 'isolation' },
  { key: 'shutdownDelay', variable: 'PAIDONCE_SHUTDOWN_DELAY' },
]

/**
 * Reads the settings in the order flag, `PAIDONCE_*`, configuration file, the platform's plain variable, default.
 *
 * @throws PaidonceError `config_invalid`, naming the key, the value (secrets excepted) and what was expected
 */
export async function loadSettings(options: LoadSettingsOptions = {}): Promise<LoadedSettings> {
  const { flags = {}, env = process.env, cwd = process.cwd() } = options
  const named = flags.config ?? (await readVariable('PAIDONCE_CONFIG', env, cwd))?.text ?? null
  const loaded = await loadConfigFile(named, cwd)
  const config = await checkedConfig(loaded, options.fallback)
  const folder = loaded?.folder ?? cwd
  const file = loaded?.file ?? 'demo'

  const origins: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  const sources = { flags: { ...flags }, env, cwd, file, config: config as Record<string, unknown> }
  for (const names of PLAIN_SETTINGS) {
    const found = await findSetting(names, SETTING_RULES[names.key], sources)
    values[names.key] = found?.value ?? DEFAULT_SETTINGS[names.key as keyof Settings]
    origins[names.key] = found?.origin ?? 'default'
  }
  for (const key of ['wallets', 'tables', 'inbox'] as const) {
    const given = config[key]
    const preset = DEFAULT_SETTINGS[key]
    values[key] = given === undefined ? preset : Object.freeze({ ...preset, ...given })
    origins[key] = given === undefined ? 'default' : file
  }
  const networks: Record<string, NetworkSettings> = {}
  for (const [name, entry] of Object.entries(config.networks ?? {})) {
    origins[`networks.${name}`] = file
    networks[name] = await readNetwork(name, entry, { env, folder, origins })
  }
  const settings = { ...values, configFile: loaded?.file ?? null, networks: Object.freeze(networks) }
  return { settings: Object.freeze(settings) as unknown as Settings, origins: Object.freeze(origins) }
}

async function checkedConfig(
  loaded: LoadedConfig | null,
  fallback: PaidonceConfig | undefined,
): Promise<PaidonceConfig> {
  const given: unknown = loaded === null ? fallback : loaded.config
  if (loaded === null && given === undefined) return {}
  const { checkConfig } = await import('./config-schema.js')
  const checked = checkConfig(given)
  if ('faults' in checked) throw configError(loaded?.file ?? 'the configuration', given, checked.faults)
  checkNetworks(checked.config.networks ?? {})
  return checked.config
}

async function readNetwork(
  name: string,
  { secret, previousSecrets, ...choices }: NetworkEntry,
  from: { readonly env: Environment; readonly folder: string; readonly origins: Record<string, string> },
): Promise<NetworkSettings> {
  const read = async (source: SecretSource, key: string): Promise<string> => {
    const { value, origin } = await readSecret(source, `networks.${name}.${key}`, from.env, from.folder)
    from.origins[`networks.${name}.${key}`] = origin
    return value
  }
  const earlier: string[] = []
  for (const [index, source] of (previousSecrets ?? []).entries()) {
    earlier.push(await read(source, `previousSecrets[${index}]`))
  }
  return Object.freeze({
    ...choices,
    ...(secret === undefined ? {} : { secret: await read(secret, 'secret') }),
    ...(previousSecrets === undefined ? {} : { previousSecrets: Object.freeze(earlier) }),
  })
}
