/**
 * Database servers refuse to run as root: this file starts them as somebody else.
 *
 * @module
 */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { access, chown, constants, readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** An account that a server can run as. */
export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/**
 * Finds the account to run a server as.
 *
 * @param names accounts to prefer, the best first; `nobody` is tried last
 * @returns null where this process is not root, so that no change of account is needed
 */
export async function unprivilegedAccount(...names: readonly string[]): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const name of [...names, 'nobody']) {
    const found = lines.find((fields) => fields[0] === name)
    if (found !== undefined) return { name, uid: Number(found[2]), gid: Number(found[3]) }
  }
  throw new Error(`None of the accounts ${[...names, 'nobody'].join(', ')} exists to run a server as.`)
}

/** Gives a folder or file to the account; does nothing without one. */
export async function giveTo(account: Account | null, path: string): Promise<void> {
  if (account !== null) await chown(path, account.uid, account.gid)
}

/** Spawns a program as the account, or as ourselves where it is null. */
export function spawnAs(
  account: Account | null,
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  const identity = account === null ? {} : { uid: account.uid, gid: account.gid }
  return spawn(command, args, { ...options, ...identity })
}

/** Runs a program to its end as the account and rejects, with what it printed, where it fails. */
export async function runAs(
  account: Account | null,
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<string> {
  const child = spawnAs(account, command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => {
      if (status === 0) resolve(output)
      else reject(new Error(`${command} ${args.join(' ')} ended with status ${String(status)}:\n${output}`))
    })
  })
}

/** Resolves to the first executable of that name in PATH or in the further folders, or to null. */
export async function findProgram(name: string, folders: readonly string[] = []): Promise<string | null> {
  for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), ...folders]) {
    const path = join(folder, name)
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (found) return path
  }
  return null
}
