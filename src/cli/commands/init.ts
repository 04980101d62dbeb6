/**
 * `paidonce init`: writes a configuration file and prints the postback URL to paste at the network.
 *
 * @module
 */
import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lookUpProfile } from '../../catalogue/catalogue.js'
import { PaidonceError } from '../../errors.js'
import { resolveNetwork, unitOf } from '../../postback/network.js'
import { CONFIG_FILE_NAMES } from '../../server/config-file.js'
import { redactDatabaseUrl } from '../../server/database-url.js'
import { DEFAULT_SETTINGS, type PaidonceConfig } from '../../server/settings.js'
import type { CommandRun, Context, GlobalOptions } from '../context.js'
import { EXIT, usageError } from '../failure.js'
import { addressToPaste } from '../start-text.js'

export interface InitOptions extends GlobalOptions {
  readonly network: string
  readonly profile?: string
  readonly secretEnv?: string
  readonly rate?: string
  readonly publicUrl?: string
  readonly jsonConfig?: boolean
}

export const init: CommandRun<InitOptions> = async (context, options) => {
  const { io } = context
  await refuseExisting(io.cwd)
  const config = configFrom(options)
  const name = options.network
  const file = join(io.cwd, options.jsonConfig === true ? 'paidonce.config.json' : 'paidonce.config.mjs')
  // `wx` refuses a file that somebody made since the look above.
  await writeFile(file, options.jsonConfig === true ? jsonText(config) : moduleText(config), { flag: 'wx' })
  const variable = secretVariable(options)
  const port = config.port ?? DEFAULT_SETTINGS.port
  const base = config.publicUrl ?? `http://localhost:${port}`
  const url = addressToPaste(name, { profile: profileOf(options) }, base)
  report(context, { file, network: name, variable, url })
  return EXIT.fine
}

function report(
  { out }: Context,
  { file, network, variable, url }: { file: string; network: string; variable: string | null; url: string },
): void {
  if (out.json) {
    out.printJson({ file, networks: [{ network, secretVariable: variable, postbackUrl: url }] })
    return
  }
  out.note(`Wrote ${file}.`)
  if (variable !== null) out.note(`Put the secret that the network shows into the variable ${variable}.`)
  out.note(`Paste this postback URL at ${network}:`)
  out.print(url)
}

/** Any configuration file of the folder: a second one beside it would stop the next start. */
async function refuseExisting(cwd: string): Promise<void> {
  for (const name of CONFIG_FILE_NAMES) {
    const file = join(cwd, name)
    const exists = await access(file).then(
      () => true,
      () => false,
    )
    if (exists) {
      throw new PaidonceError('config_invalid', `${file} exists already; nothing was written.`, {
        hint: 'Edit it, or move it away first.',
      })
    }
  }
}

function configFrom(options: InitOptions): PaidonceConfig {
  const { database, port, host, rate, publicUrl, network: name } = options
  const profile = lookUpProfile(profileOf(options), '--profile')
  const unit = unitOf(profile)
  if (unit !== 'coins' && rate === undefined) {
    throw usageError(
      `The amounts of profile "${profile.id}" are in "${unit}": --rate is missing.`,
      'Give the coins of one unit, for instance --rate 1000.',
    )
  }
  const variable = secretVariable(options)
  if (variable !== null && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)) {
    throw usageError(
      `--secret-env is ${JSON.stringify(variable)}; expected the name of an environment variable.`,
    )
  }
  const choices = { profile: profile.id, ...(rate === undefined ? {} : { rate }) }
  const entry = variable === null ? choices : { ...choices, secret: { env: variable } }
  // Refused now rather than at the next start.
  resolveNetwork(name, { ...choices, ...(variable === null ? {} : { secret: 'x' }) }, lookUpProfile, {
    publicUrl: publicUrl ?? null,
  })
  return {
    ...(database === undefined ? {} : { database: withoutPassword(database) }),
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(host === undefined ? {} : { host }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    networks: { [name]: entry },
  }
}

/** A password belongs into the environment, not into a file that is committed. */
function withoutPassword(database: string): string {
  if (redactDatabaseUrl(database) === database) return database
  throw usageError(
    '--database holds a password, which init does not write into a file.',
    'Set PAIDONCE_DATABASE_URL for the server, and leave --database out here.',
  )
}

const profileOf = ({ network, profile }: InitOptions): string => profile ?? network

/** The variable that holds the secret; null where the profile signs nothing. */
function secretVariable(options: InitOptions): string | null {
  if (lookUpProfile(profileOf(options), '--profile').signature === null) return null
  return options.secretEnv ?? `${options.network.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_POSTBACK_KEY`
}

function jsonText(config: PaidonceConfig): string {
  return `${JSON.stringify(config, null, 2)}\n`
}

function moduleText(config: PaidonceConfig): string {
  return `/** @type {import('paidonce').PaidonceConfig} */\nexport default ${literal(config, '')}\n`
}

/** Plain data as it would be written by hand. */
function literal(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? quoted(value) : String(value)
  const inner = `${indent}  `
  const lines = Object.entries(value).map(
    ([key, item]) =>
      `${inner}${/^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key)}: ${literal(item, inner)},`,
  )
  return `{\n${lines.join('\n')}\n${indent}}`
}

function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
