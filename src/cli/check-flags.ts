/**
 * Judges the values on the command line before a command runs: what is wrong there is wrong usage, whatever would have
 * refused it later.
 *
 * @module
 */
import type { Command } from 'commander'
import type { SettingFlags } from '../server/config.js'
import { redactDatabaseUrl } from '../server/database-url.js'
import { SETTING_RULES } from '../server/setting-rules.js'
import { usageError } from './failure.js'

/** The flags that are settings, by the key of their rule. */
const FLAGS = [
  ['database', '--database'],
  ['port', '--port'],
  ['host', '--host'],
  ['adminPort', '--admin-port'],
  ['logLevel', '--log-level'],
] as const

/**
 * Holds the flags that are settings against the rules that judge every other source of them.
 *
 * @throws PaidonceError `usage`, naming the flag
 */
export function refuseWrongFlags(flags: SettingFlags): void {
  for (const [key, flag] of FLAGS) {
    const given = flags[key]
    if (given === undefined) continue
    const rule = SETTING_RULES[key]
    const value = typeof given === 'string' ? rule.fromText(given) : given
    if (!rule.accepts(value)) throw wrongValue(flag, value, rule.expected)
  }
}

/** A value that an option cannot have; addresses are shown without their password. */
export function wrongValue(flag: string, value: unknown, expected: string): Error {
  const shown = typeof value === 'string' ? redactDatabaseUrl(value) : value
  return usageError(`${flag} is ${JSON.stringify(shown)}; expected ${expected}.`)
}

/**
 * Refuses empty values: a shell variable that is not set makes one, and an empty filter would ask another question.
 *
 * @throws PaidonceError `usage`, naming the option or argument
 */
export function refuseEmptyValues(command: Command): void {
  const values = command.optsWithGlobals<Record<string, unknown>>()
  for (let at: Command | null = command; at !== null; at = at.parent) {
    for (const option of at.options) {
      const value = values[option.attributeName()]
      if (isEmpty(value)) throw usageError(`${option.long ?? option.flags} is empty; expected a value.`)
    }
  }
  command.registeredArguments.forEach((argument, index) => {
    if (isEmpty(command.processedArgs[index])) {
      throw usageError(`The argument <${argument.name()}> is empty; expected a value.`)
    }
  })
}

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.includes(''))
}
