/**
 * The admin token of a command.
 *
 * @module
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Settings } from '../server/settings.js'
import type { Context } from './context.js'
import { usageError } from './failure.js'

/** The token from `--token-file`, else from `PAIDONCE_ADMIN_TOKEN`; null without either. It is never a flag's value. */
export async function readToken(
  { io }: Context,
  settings: Pick<Settings, 'adminToken'>,
  file: string | undefined,
): Promise<string | null> {
  if (file === undefined) return settings.adminToken
  const path = resolve(io.cwd, file)
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch {
    throw usageError(
      `The token file ${JSON.stringify(path)} cannot be read.`,
      'Check the path given with --token-file.',
    )
  }
}
