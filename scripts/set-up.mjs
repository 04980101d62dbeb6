/**
 * Brings a fresh clone to the point where it can run: installs what is missing, builds what is older than its
 * sources. Plain Node.js, because nothing is installed yet when it runs.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))

const FLOOR = [20, 19]
const INSTALL_STAMP = join(ROOT, 'node_modules', '.paidonce-setup')
const BUILD_STAMP = join(ROOT, 'dist', '.paidonce-build')

/** Installs and builds where that is needed; one line on stderr for each step that takes time. Exits on failure. */
export function setUp() {
  checkNode()
  install()
  build()
}

/** The dependencies alone, for what runs the sources and not the build. */
export function setUpDependencies() {
  checkNode()
  install()
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > FLOOR[0] || (major === FLOOR[0] && minor >= FLOOR[1])) return
  fail(
    `Paidonce needs Node.js ${FLOOR.join('.')} or newer; this is ${process.versions.node} (${process.execPath}).`,
  )
}

function install() {
  const lock = join(ROOT, 'package-lock.json')
  const hasLock = existsSync(lock)
  // The platform is part of it: a driver that was compiled elsewhere does not load here.
  const wanted = hashOf([
    hasLock ? readFileSync(lock) : readFileSync(join(ROOT, 'package.json')),
    `${process.platform} ${process.arch} ${process.versions.modules}`,
  ])
  const stamp = stampOf(INSTALL_STAMP)
  if (stamp === wanted) return
  if (stamp === null && hasLock && isInstalled(lock)) {
    writeFileSync(INSTALL_STAMP, wanted)
    return
  }
  say('Installing dependencies (about a minute: the SQLite driver is compiled) …')
  run('npm', [hasLock ? 'ci' : 'install', '--no-audit', '--no-fund'], 'Installing the dependencies failed.')
  writeFileSync(INSTALL_STAMP, wanted)
}

/** Whether somebody has installed what the lock file asks for, by npm's own record of what is in node_modules. */
function isInstalled(lock) {
  const record = join(ROOT, 'node_modules', '.package-lock.json')
  if (!existsSync(record)) return false
  const there = JSON.parse(readFileSync(record, 'utf8')).packages
  return Object.entries(JSON.parse(readFileSync(lock, 'utf8')).packages).every(
    ([path, { version, optional }]) =>
      path === '' || there[path]?.version === version || (optional === true && there[path] === undefined),
  )
}

function build() {
  const wanted = hashOf(sources().flatMap((file) => [relative(ROOT, file), readFileSync(file)]))
  if (stampOf(BUILD_STAMP) === wanted) return
  say('Building (a few seconds) …')
  run('npm', ['run', '--silent', 'build'], 'The build failed.')
  mkdirSync(dirname(BUILD_STAMP), { recursive: true })
  writeFileSync(BUILD_STAMP, wanted)
}

function sources() {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const settings = ['package.json', 'tsconfig.json', 'tsconfig.build.json'].map((name) => join(ROOT, name))
  return [...files, ...settings.filter(existsSync)].sort()
}

function hashOf(parts) {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\0')
  return hash.digest('hex')
}

function stampOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null
}

/** What the tool says goes to stderr, so that a command's data stays alone on stdout. */
function run(command, args, failure) {
  const result = spawnSync(command, args, {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (result.error !== undefined) fail(`${failure} ${command} could not be run: ${result.error.message}`)
  if (result.signal !== null) process.exit(130)
  if (result.status !== 0)
    fail(`${failure} "${command} ${args.join(' ')}" ended with ${result.status}; see above.`)
}

function say(text) {
  process.stderr.write(`${text}\n`)
}

function fail(text) {
  say(text)
  process.exit(1)
}
