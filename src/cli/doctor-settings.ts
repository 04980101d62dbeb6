/**
 * Settings for doctor, which has to say what is wrong with them where every other command may just stop.
 *
 * @module
 */
import { PaidonceError } from '../errors.js'
import type { StoreFinding } from '../ledger/store.js'
import type { LoadedSettings } from '../server/config.js'
import { loadConfigFile } from '../server/config-file.js'
import { readSecret } from '../server/secrets.js'
import { readVariable } from '../server/setting-sources.js'
import type { SecretSource } from '../server/settings.js'
import { readSettings, type Context } from './context.js'

export interface JudgedSettings {
  /** Null where they cannot be read even without the secrets that are missing. */
  readonly loaded: LoadedSettings | null
  readonly findings: readonly StoreFinding[]
  /** Keys such as `networks.wall.secret` whose value is not to be had; in `loaded` something else stands for it. */
  readonly missing: ReadonlySet<string>
}

/** Reads the settings; what is wrong with them becomes findings. Wrong usage is thrown as ever. */
export async function judgeSettings(context: Context): Promise<JudgedSettings> {
  try {
    return { loaded: await readSettings(context), findings: [], missing: new Set() }
  } catch (error) {
    if (!isConfigFault(error)) throw error
    const faults = await secretFaults(context)
    const findings = faults.map(({ finding }) => finding)
    const missing = new Set(findings.map(({ check }) => check))
    try {
      if (faults.length === 0) throw error
      return { loaded: await readSettings(withStandIns(context, faults)), findings, missing }
    } catch (again) {
      if (!isConfigFault(again)) throw again
      const known = findings.some(({ message }) => message === again.message)
      return {
        loaded: null,
        findings: known ? findings : [...findings, refusal('configuration', again)],
        missing,
      }
    }
  }
}

interface SecretFault {
  readonly finding: StoreFinding
  /** Null where the secret does not come from a variable. */
  readonly variable: string | null
}

/** The secrets of the configuration that cannot be read, each with its reason. */
async function secretFaults({ io: { env, cwd }, flags }: Context): Promise<SecretFault[]> {
  try {
    const named = flags.config ?? (await readVariable('PAIDONCE_CONFIG', env, cwd))?.text ?? null
    const loaded = await loadConfigFile(named, cwd)
    if (loaded === null) return []
    const faults: SecretFault[] = []
    for (const [key, source] of secretsOf(loaded.config)) {
      try {
        await readSecret(source, key, env, loaded.folder)
      } catch (error) {
        if (!isConfigFault(error)) throw error
        const variable = typeof source === 'object' && 'env' in source ? source.env : null
        faults.push({ finding: refusal(key, error), variable })
      }
    }
    return faults
  } catch (error) {
    // A file that cannot be read is what stopped the settings in the first place, and is reported as that.
    if (isConfigFault(error)) return []
    throw error
  }
}

/** Everything that stands where a secret's source should, and is one; nothing else was checked yet. */
function secretsOf(config: unknown): (readonly [string, SecretSource])[] {
  return Object.entries(fieldsOf(fieldsOf(config)['networks'])).flatMap(([name, network]) => {
    const { secret, previousSecrets } = fieldsOf(network)
    const earlier: readonly unknown[] = Array.isArray(previousSecrets) ? previousSecrets : []
    const all: (readonly [string, unknown])[] = [
      [`networks.${name}.secret`, secret],
      ...earlier.map((source, index) => [`networks.${name}.previousSecrets[${index}]`, source] as const),
    ]
    return all.flatMap(([key, source]) => (isSource(source) ? [[key, source] as const] : []))
  })
}

function isSource(value: unknown): value is SecretSource {
  const { env, file } = fieldsOf(value)
  return typeof value === 'string' || typeof env === 'string' || typeof file === 'string'
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The same context with a value for each missing variable, so that all other settings can be judged. */
function withStandIns(context: Context, faults: readonly SecretFault[]): Context {
  const names = faults.flatMap(({ variable }) => (variable === null ? [] : [variable]))
  const env = { ...context.io.env, ...Object.fromEntries(names.map((name) => [name, 'missing'])) }
  return { ...context, io: { ...context.io, env } }
}

function isConfigFault(error: unknown): error is PaidonceError {
  return error instanceof PaidonceError && error.code === 'config_invalid'
}

function refusal(check: string, { message, hint }: PaidonceError): StoreFinding {
  return { check, severity: 'refuse', message, cure: hint ?? null }
}
