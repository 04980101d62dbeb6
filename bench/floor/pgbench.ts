/**
 * Runs recorded groups by pgbench: the database alone, without HTTP, signatures and Node.js.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { MissingServer } from '../../test/servers/missing-server.js'
import { findProgram } from '../../test/servers/unprivileged.js'
import { VALUES_TABLE, type Replay } from './script.js'

const ROWS_AT_ONCE = 50
const LIBRARIES = '/usr/lib/postgresql'

/** @throws MissingServer where it is not installed */
export async function findPgbench(): Promise<string> {
  const versions = await readdir(LIBRARIES).catch(() => [])
  const folders = versions.map((version) => join(LIBRARIES, version, 'bin'))
  const program = await findProgram('pgbench', folders)
  // Debian has it in the package of the server.
  if (program === null) throw new MissingServer('pgbench', 'apt-get install postgresql')
  return program
}

/** Writes the values into a table of the database. */
export async function loadValues(url: string, { columns, rows }: Replay): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    // Uncompressed and outside of the row: reading them is to cost as little as it can.
    const texts = columns.map((name) => `, ${name} text`).join('')
    await client.query(`create unlogged table ${VALUES_TABLE} (g integer primary key${texts})`)
    const apart = columns.map((name) => `alter column ${name} set storage external`).join(', ')
    await client.query(`alter table ${VALUES_TABLE} ${apart}`)
    for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
      const some = rows.slice(start, start + ROWS_AT_ONCE)
      const width = columns.length + 1
      const places = some.map(
        (_, row) => `(${Array.from({ length: width }, (__, at) => `$${row * width + at + 1}`).join(', ')})`,
      )
      // pgbench counts the first group of its first client as 1.
      const values = some.flatMap((row, place) => [start + place + 1, ...row])
      await client.query(`insert into ${VALUES_TABLE} values ${places.join(', ')}`, values)
    }
    await client.query(`vacuum analyze ${VALUES_TABLE}`)
  } finally {
    await client.end()
  }
}

export interface PgbenchOptions {
  readonly program: string
  readonly url: string
  readonly clients: number
  /** For the script. */
  readonly folder: string
}

/** Resolves to groups per second. */
export async function runPgbench(
  { script, rows }: Replay,
  { program, url, clients, folder }: PgbenchOptions,
): Promise<number> {
  const file = join(folder, 'groups.pgbench')
  await writeFile(file, script)
  const counts = ['-c', String(clients), '-j', '1', '-t', String(rows.length / clients)]
  const args = ['-n', '-M', 'prepared', ...counts, '-D', 'i=0', '-f', file, url]
  const { stdout, stderr } = await promisify(execFile)(program, args, { maxBuffer: 1 << 24 })
  return readPgbench(`${stdout}${stderr}`)
}

/** @throws where a client of pgbench ended early: its groups would be missing in the rate */
export function readPgbench(output: string): number {
  const rate = /^tps = ([\d.]+)/m.exec(output)?.[1]
  if (rate === undefined || /aborted/.test(output)) throw new Error(`pgbench failed:\n${output}`)
  return Number(rate)
}
