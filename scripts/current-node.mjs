/**
 * Prints the path of a current Node (24), which has SQLite built in, and installs it into `.cache/current-node` first
 * where it is not there yet. It stays out of package.json on purpose: as a dependency its bin would take the place of the
 * user's own node in every script.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const MAJOR = 24
const folder = fileURLToPath(new URL('../.cache/current-node', import.meta.url))
const modules = join(folder, 'node_modules')
const exe = process.platform === 'win32' ? 'node.exe' : 'node'
const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

/** The package `node` copies the binary in an install script; where scripts are off it is in the platform's package. */
const places = [
  join(modules, 'node', 'bin', exe),
  join(modules, 'node', 'node_modules', `node-${platform}`, 'bin', exe),
  join(modules, `node-${platform}`, 'bin', exe),
]

const found = isCurrent(process.execPath) ? process.execPath : (findInstalled() ?? install())
if (found === null) {
  process.stderr.write(
    `Node ${MAJOR} could not be installed. Try: npm install --prefix .cache/current-node --no-save node@${MAJOR}\n`,
  )
  process.exitCode = 1
} else {
  process.stdout.write(`${found}\n`)
}

function findInstalled() {
  return places.find(isCurrent) ?? null
}

function install() {
  mkdirSync(folder, { recursive: true })
  for (const name of ['node', `node-${platform}`]) {
    runNpm(['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `${name}@${MAJOR}`])
    const path = findInstalled()
    if (path !== null) return path
  }
  return null
}

/** Everything that npm says goes to stderr: stdout is the path alone. */
function runNpm(args) {
  const npm = join(dirname(process.execPath), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js')
  const [command, ...first] = existsSync(npm) ? [process.execPath, npm] : ['npm']
  spawnSync(command, [...first, ...args], { stdio: ['ignore', 2, 2], shell: process.platform === 'win32' })
}

function isCurrent(path) {
  if (!existsSync(path)) return false
  const { stdout } = spawnSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' })
  return Number.parseInt(stdout, 10) >= MAJOR
}
