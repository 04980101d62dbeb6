/**
 * The demo: a folder `data/` with an embedded database and one network whose secret was made up here.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PaidonceConfig } from '../server/settings.js'

export const DEMO_NETWORK = 'demo'
export const DEMO_USER = 'demo-user'
const PROFILE = 'sharklio'

const folderOf = (cwd: string): string => join(cwd, 'data')
const secretFileOf = (cwd: string): string => join(folderOf(cwd), 'demo-secret')

/** Whether the demo has been set up in this folder. */
export function demoExists(cwd: string): boolean {
  return existsSync(secretFileOf(cwd))
}

/** The demo's configuration, as a file would hold it. */
export function demoConfig(cwd: string): PaidonceConfig {
  return {
    database: `sqlite:${join(folderOf(cwd), 'paidonce.db')}`,
    networks: { [DEMO_NETWORK]: { profile: PROFILE, secret: { file: secretFileOf(cwd) } } },
  }
}

/** Makes the folder and the secret where they do not exist; resolves to the secret. */
export async function setUpDemo(cwd: string): Promise<string> {
  const folder = folderOf(cwd)
  const isNew = !existsSync(folder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // The mode given to mkdir is cut by the process's umask.
  if (isNew) await chmod(folder, 0o700)
  if (!demoExists(cwd)) {
    await writeFile(secretFileOf(cwd), `${randomBytes(24).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
  }
  return (await readFile(secretFileOf(cwd), 'utf8')).trim()
}
