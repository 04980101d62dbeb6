/**
 * `paidonce init`: writes a configuration file and prints the postback URL to paste at the network.
 *
 * @module
 */
import { access, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { PaidonceError } from '../../errors.js'
import { CONFIG_FILE_NAMES } from '../../server/config-file.js'
import { DEFAULT_SETTINGS } from '../../server/settings.js'
import { configText, formOf } from '../config-text.js'
import type { CommandRun, Context, GlobalOptions } from '../context.js'
import { EXIT, usageError } from '../failure.js'
import { configFrom, secretVariable, type ConfigChoices } from '../init-config.js'
import { shellWord } from '../shell-word.js'
import { addressesToPaste } from '../start-text.js'

export interface InitOptions extends GlobalOptions, ConfigChoices {
  readonly jsonConfig?: boolean
}

export const init: CommandRun<InitOptions> = async (context, options) => {
  const { cwd } = context.io
  const file = fileFrom(cwd, options)
  const form = await formOf(file)
  const config = await configFrom(options)
  await refuseExisting(cwd, file)
  await writeNew(file, configText(config, form))
  const { network: name, profile = name } = options
  const base = config.publicUrl ?? `http://localhost:${config.port ?? DEFAULT_SETTINGS.port}`
  const [url = ''] = addressesToPaste(name, { profile }, base)
  report(context, { file, network: name, variable: secretVariable(options), url })
  return EXIT.fine
}

function report(
  { out, io }: Context,
  { file, network, variable, url }: { file: string; network: string; variable: string | null; url: string },
): void {
  if (out.json) {
    out.printJson({ file, networks: [{ network, secretVariable: variable, postbackUrl: url }] })
    return
  }
  out.note(`Wrote ${file}.`)
  if (!isFoundByItself(io.cwd, file)) {
    out.note(`Name it to every command: paidonce start --config ${shellWord(relative(io.cwd, file))}`)
  }
  if (variable !== null) out.note(`Put the secret that the network shows into the variable ${variable}.`)
  out.note(`Paste this postback URL at ${network}:`)
  out.print(url)
}

/** The file to write: the one that --config names, else the usual one of this folder. */
function fileFrom(cwd: string, { config, jsonConfig = false }: InitOptions): string {
  if (config === undefined) return join(cwd, jsonConfig ? 'paidonce.config.json' : 'paidonce.config.mjs')
  if (jsonConfig && !config.endsWith('.json')) {
    throw usageError(
      `--json-config does not fit --config ${JSON.stringify(config)}.`,
      'Leave one of the two out: the ending of the file says what is written.',
    )
  }
  return resolve(cwd, config)
}

function isFoundByItself(cwd: string, file: string): boolean {
  return dirname(file) === resolve(cwd) && CONFIG_FILE_NAMES.includes(basename(file))
}

/** Beside a file that is found by itself any other such file counts: two of them would stop the next start. */
async function refuseExisting(cwd: string, file: string): Promise<void> {
  const files = isFoundByItself(cwd, file) ? CONFIG_FILE_NAMES.map((name) => join(cwd, name)) : [file]
  for (const each of files) {
    const exists = await access(each).then(
      () => true,
      () => false,
    )
    if (exists) throw existsAlready(each)
  }
}

/** `wx` refuses a file that somebody made since the look before. */
async function writeNew(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw existsAlready(file)
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw usageError(`--config names a file in ${dirname(file)}, and there is no such folder.`)
    }
    throw error
  }
}

function existsAlready(file: string): PaidonceError {
  return new PaidonceError('config_invalid', `${file} exists already; nothing was written.`, {
    hint: 'Edit it, or move it away first.',
  })
}
