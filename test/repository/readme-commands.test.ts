/**
 * The README's commands, run as they are printed there, in a fresh clone of what is committed.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../servers/free-port.js'
import { readTracked, ROOT, trackedFiles } from './tracked-files.js'

const TIMEOUT_MS = 240_000

let folder: string
let started: ChildProcess | null = null
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paidonce-clone-'))
})
afterAll(() => {
  // The group: npm, its shell and the server.
  if (started?.pid !== undefined && started.exitCode === null) process.kill(-started.pid, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

it('start the demo, book a postback once and stop', { timeout: TIMEOUT_MS }, async () => {
  const [clone = '', start = ''] = commandsUnder('## Two commands')
  expect(clone).toMatch(/^git clone \S+ paidonce && cd paidonce$/)
  expect(start).toBe('npm start')
  makeClone(clone)
  linkDependencies()

  const server = launch(start, String(await freePort()))
  const printed = await server.wrote(/^curl -H .+$/m)
  const [postback = '', wallet = ''] = printed.split('\n').filter((line) => line.startsWith('curl '))
  expect(run(postback)).toBe('OK')
  expect(run(postback)).toBe('OK')
  expect(JSON.parse(run(wallet))).toEqual({ user: 'demo-user', balance: '315.000', available: '315.000' })

  // To the server itself, as a process manager signals it: a shell between npm and the server would die of its own copy
  // of the signal, and its status would hide the server's.
  process.kill(innermost(started?.pid ?? 0), 'SIGTERM')
  expect(await server.ended).toBe(0)
})

it('are followed by an output that looks as the real one', () => {
  const readme = readTracked('README.md')
  for (const line of readTracked('src/cli/start-text.ts').matchAll(/^ {4}'([A-Z][^']+[:.])',$/gm)) {
    if (line[1] === 'Paidonce is listening.') continue
    expect(readme).toContain(line[1])
  }
})

/** The lines of the first `sh` block under a heading. */
function commandsUnder(heading: string): string[] {
  const readme = readTracked('README.md')
  const block = /^```sh\n([\s\S]*?)^```/m.exec(readme.slice(readme.indexOf(`${heading}\n`)))?.[1] ?? ''
  return block.trim().split('\n')
}

/** Runs the README's line with this repository in the address's place; an archive without history is copied. */
function makeClone(command: string): void {
  if (existsSync(join(ROOT, '.git'))) {
    const line = command.replace(/^git clone \S+/, `git clone --quiet '${ROOT}'`)
    execFileSync('bash', ['-c', line], { cwd: folder, stdio: 'pipe' })
    return
  }
  for (const file of trackedFiles()) cpSync(join(ROOT, file), join(folder, 'paidonce', file))
}

/** Saves the minute of an installation: the packages are shared by hard links where the file system allows it. */
function linkDependencies(): void {
  const target = join(folder, 'paidonce', 'node_modules')
  try {
    execFileSync('cp', ['-al', join(ROOT, 'node_modules'), target], { stdio: 'pipe' })
  } catch {
    rmSync(target, { recursive: true, force: true })
    cpSync(join(ROOT, 'node_modules'), target, { recursive: true, verbatimSymlinks: true })
  }
  // The set-up rewrites its stamp, which must not reach through the link into this repository.
  const stamp = join(target, '.paidonce-setup')
  if (!existsSync(stamp)) return
  const text = readFileSync(stamp)
  rmSync(stamp)
  writeFileSync(stamp, text)
}

/** What the reader's shell has, without the settings of the run that this test is part of. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_|PAIDONCE_|VITEST|NODE_ENV$|DATABASE_URL$|HOST$|PORT$|LOG_LEVEL$)/.test(name),
    ),
  )
}

function launch(
  command: string,
  port: string,
): { wrote: (pattern: RegExp) => Promise<string>; ended: Promise<number | string | null> } {
  const child = spawn('bash', ['-c', `exec ${command}`], {
    cwd: join(folder, 'paidonce'),
    env: { ...cleanEnvironment(), PORT: port },
    detached: true,
  })
  started = child
  let out = ''
  let both = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    both += chunk.toString()
    child.emit('wrote')
  })
  child.stderr.on('data', (chunk: Buffer) => {
    both += chunk.toString()
  })
  const ended = new Promise<number | string | null>((resolve) => {
    child.on('exit', (code, signal) => {
      resolve(code ?? signal)
    })
  })
  return {
    ended,
    wrote: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (pattern.test(out)) resolve(out)
        }
        child.on('wrote', look)
        look()
        void ended.then((code) => {
          reject(new Error(`"${command}" ended with ${String(code)}:\n${both}`))
        })
      }),
  }
}

/** The last descendant of a process. */
function innermost(pid: number): number {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  const children = new Map(
    rows.map((row) => {
      const [child = 0, parent = 0] = row.trim().split(/\s+/).map(Number)
      return [parent, child]
    }),
  )
  let last = pid
  for (let next = children.get(last); next !== undefined; next = children.get(last)) last = next
  return last
}

/** Runs a printed line in a shell, as pasted. */
function run(line: string): string {
  return execFileSync('bash', ['-c', line], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
