/**
 * Looks one plain setting up in its sources, in their order: flag, `PAIDONCE_*` (or `PAIDONCE_*_FILE`), configuration
 * file, the platform's plain variable, default.
 *
 * @module
 */
import { resolve } from 'node:path'
import { PaidonceError } from '../errors.js'
import { faultSentence } from './config-faults.js'
import type { SettingRule } from './setting-rules.js'
import { readValueFile } from './value-file.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** How one setting is called at each place; absent where it cannot be set there. */
export interface SettingNames {
  readonly key: string
  readonly flag?: string
  readonly variable?: string
  readonly plainVariable?: string
  /** False where the configuration file may not hold it. */
  readonly inFile?: boolean
}

export interface FoundSetting {
  readonly value: unknown
  /** Where the value came from, for `doctor`. */
  readonly origin: string
}

export interface SettingSources {
  readonly flags: Readonly<Record<string, string | number | undefined>>
  readonly env: Environment
  readonly cwd: string
  readonly file: string
  readonly config: Readonly<Record<string, unknown>>
}

/**
 * Finds a setting; null where no source has it.
 *
 * @throws PaidonceError `config_invalid` where the first source that has it holds a wrong value
 */
export async function findSetting(
  names: SettingNames,
  rule: SettingRule,
  sources: SettingSources,
): Promise<FoundSetting | null> {
  const flag = names.flag === undefined ? undefined : sources.flags[names.key]
  if (flag !== undefined) {
    return accepted(
      names.key,
      rule,
      typeof flag === 'string' ? rule.fromText(flag) : flag,
      `--${names.flag ?? ''}`,
    )
  }
  const variable =
    names.variable === undefined ? null : await readVariable(names.variable, sources.env, sources.cwd)
  if (variable !== null) return accepted(names.key, rule, rule.fromText(variable.text), variable.name)
  const fromFile = names.inFile === false ? undefined : sources.config[names.key]
  if (fromFile !== undefined) return { value: fromFile, origin: sources.file }
  const plain = names.plainVariable === undefined ? undefined : sources.env[names.plainVariable]
  // Platforms and compose files pass empty variables for what is not set.
  if (plain !== undefined && plain !== '') {
    return accepted(names.key, rule, rule.fromText(plain), names.plainVariable ?? '')
  }
  return null
}

function accepted(key: string, rule: SettingRule, value: unknown, origin: string): FoundSetting {
  if (rule.accepts(value)) return { value, origin }
  throw new PaidonceError('config_invalid', faultSentence(key, value, rule.expected), {
    hint: `The value came from ${origin}.`,
  })
}

/**
 * Reads `NAME` or the file that `NAME_FILE` names; null where neither is set.
 *
 * @throws PaidonceError `config_invalid` where both are set, or the value is empty
 */
export async function readVariable(
  name: string,
  env: Environment,
  cwd: string,
): Promise<{ readonly text: string; readonly name: string } | null> {
  const direct = env[name]
  const fileName = `${name}_FILE`
  const file = env[fileName]
  if (direct !== undefined && file !== undefined) {
    throw new PaidonceError('config_invalid', `${name} and ${fileName} are both set; expected one of them.`, {
      hint: `Unset ${name} or ${fileName}.`,
    })
  }
  if (file !== undefined) return nonEmpty(await readValueFile(resolve(cwd, file), fileName), fileName)
  return direct === undefined ? null : nonEmpty(direct, name)
}

function nonEmpty(text: string, name: string): { readonly text: string; readonly name: string } {
  if (text !== '') return { text, name }
  throw new PaidonceError('config_invalid', `${name} is empty; expected a value.`, {
    hint: `Give ${name} a value, or unset it to use the next source.`,
  })
}
