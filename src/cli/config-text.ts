/**
 * A configuration as the text of a file.
 *
 * @module
 */
import { readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import type { PaidonceConfig } from '../server/settings.js'
import { usageError } from './failure.js'

export type ConfigForm = 'json' | 'module' | 'commonjs'

/**
 * How a file of this name has to be written to be read back.
 *
 * @throws PaidonceError `usage` for an ending that no configuration has
 */
export async function formOf(file: string): Promise<ConfigForm> {
  switch (extname(file)) {
    case '.json':
      return 'json'
    case '.mjs':
    case '.ts':
      return 'module'
    case '.cjs':
      return 'commonjs'
    case '.js':
      return (await isModuleFolder(dirname(file))) ? 'module' : 'commonjs'
    default:
      throw usageError(
        `--config is ${JSON.stringify(file)}; expected a file that ends with .json, .mjs, .js, .cjs or .ts.`,
      )
  }
}

/** What Node takes a .js file for: the nearest package.json says (Node.js manual, "Determining module system"). */
async function isModuleFolder(folder: string): Promise<boolean> {
  try {
    const text = await readFile(join(folder, 'package.json'), 'utf8')
    return (JSON.parse(text) as { readonly type?: unknown }).type === 'module'
  } catch {
    const parent = dirname(folder)
    return parent === folder ? false : isModuleFolder(parent)
  }
}

export function configText(config: PaidonceConfig, form: ConfigForm): string {
  if (form === 'json') return `${JSON.stringify(config, null, 2)}\n`
  const head = form === 'module' ? 'export default' : 'module.exports ='
  return `/** @type {import('paidonce').PaidonceConfig} */\n${head} ${literal(config, '')}\n`
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
