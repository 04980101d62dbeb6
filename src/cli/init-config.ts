/**
 * The configuration that init writes, judged by everything that start would judge it by.
 *
 * @module
 */
import { lookUpProfile } from '../catalogue/catalogue.js'
import { PaidonceError } from '../errors.js'
import { resolveNetwork, unitOf } from '../postback/network.js'
import { checkNetworks } from '../server/config-checks.js'
import { redactDatabaseUrl } from '../server/database-url.js'
import { SETTING_RULES } from '../server/setting-rules.js'
import type { LogLevel, PaidonceConfig } from '../server/settings.js'
import { wrongValue } from './check-flags.js'
import { usageError } from './failure.js'

/** The options of init that become settings. */
export interface ConfigChoices {
  readonly network: string
  readonly profile?: string
  readonly secretEnv?: string
  readonly rate?: string
  readonly publicUrl?: string
  readonly database?: string | undefined
  readonly port?: string | number | undefined
  readonly host?: string | undefined
  readonly logLevel?: string | undefined
}

/**
 * Makes the configuration.
 *
 * @throws PaidonceError `usage`, naming the flag, for everything that the next start would refuse
 */
export async function configFrom(choices: ConfigChoices): Promise<PaidonceConfig> {
  const { network: name } = choices
  try {
    const config = assemble(choices)
    const { checkConfig } = await import('../server/config-schema.js')
    const { configError } = await import('../server/config-faults.js')
    const checked = checkConfig(config)
    if ('faults' in checked) throw configError('the options', config, checked.faults)
    checkNetworks(checked.config.networks ?? {})
    const { secret, ...entry } = checked.config.networks?.[name] ?? { profile: name }
    const stand = secret === undefined ? {} : { secret: 'x' }
    resolveNetwork(name, { ...entry, ...stand }, lookUpProfile, { publicUrl: config.publicUrl ?? null })
    return checked.config
  } catch (error) {
    if (!(error instanceof PaidonceError) || error.code !== 'config_invalid') throw error
    throw usageError(
      inFlags(error.message, name),
      error.hint === undefined ? undefined : inFlags(error.hint, name),
    )
  }
}

function assemble(choices: ConfigChoices): PaidonceConfig {
  const { database, port, host, logLevel, rate, publicUrl, network: name } = choices
  // The name comes first: it stands for the profile and in the variable where these are not given.
  checkNetworks({ [name]: { profile: '' } })
  if (publicUrl !== undefined && !SETTING_RULES.publicUrl.accepts(publicUrl)) {
    throw wrongValue('--public-url', withoutUser(publicUrl), SETTING_RULES.publicUrl.expected)
  }
  const profile = lookUpProfile(choices.profile ?? name, `networks.${name}.profile`)
  const unit = unitOf(profile)
  if (unit !== 'coins' && rate === undefined) {
    throw usageError(
      `The amounts of profile "${profile.id}" are in "${unit}": --rate is missing.`,
      'Give the coins of one unit, for instance --rate 1000.',
    )
  }
  const variable = secretVariable(choices)
  if (variable !== null && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)) {
    throw wrongValue('--secret-env', variable, 'the name of an environment variable')
  }
  return {
    ...(database === undefined ? {} : { database: refusePassword(database) }),
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(host === undefined ? {} : { host }),
    ...(logLevel === undefined ? {} : { logLevel: logLevel as LogLevel }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    networks: {
      [name]: {
        profile: profile.id,
        ...(rate === undefined ? {} : { rate }),
        ...(variable === null ? {} : { secret: { env: variable } }),
      },
    },
  }
}

/** The variable that holds the secret; null where the profile signs nothing. */
export function secretVariable({ network, profile, secretEnv }: ConfigChoices): string | null {
  if (lookUpProfile(profile ?? network, `networks.${network}.profile`).signature === null) return null
  if (secretEnv !== undefined) return secretEnv
  const name = network.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
  // No shell can set a variable whose name begins with a digit.
  return `${/^\d/.test(name) ? 'NETWORK_' : ''}${name}_POSTBACK_KEY`
}

/** A password belongs into the environment, not into a file that is committed. */
function refusePassword(database: string): string {
  if (redactDatabaseUrl(database) === database) return database
  throw usageError(
    '--database holds a password, which init does not write into a file.',
    'Set PAIDONCE_DATABASE_URL for the server, and leave --database out here.',
  )
}

/** Whoever stands before the host of an address is not shown: it can be a token as well as a name. */
function withoutUser(url: string): string {
  return redactDatabaseUrl(url).replace(/^([a-z][a-z0-9+.-]*:\/\/).*@/i, '$1***@')
}

/** What the checks say of a key, in the words of the command line. */
function inFlags(text: string, name: string): string {
  return text
    .replaceAll(`networks.${name}.publicUrl`, '--public-url')
    .replaceAll(`networks.${name}.profile`, '--profile')
    .replaceAll(`networks.${name}.secret`, '--secret-env')
    .replaceAll(`networks.${name}.rate`, '--rate')
    .replace(/^networks has the name/, '--network is')
}
