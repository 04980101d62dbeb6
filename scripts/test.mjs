/**
 * Runs the tests: sets up, names what cannot be had, runs the suite and then the SQLite suite under a current Node.
 *
 *   npm test                          everything that ends within ten minutes
 *   npm run test:all                  that, and the long runs
 *   npm run test:all -- --long-only   the long runs alone
 *   --summary FILE                    writes the counts as JSON
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { ROOT, setUp } from './set-up.mjs'

const args = process.argv.slice(2)
const all = args.includes('--all')
const longOnly = args.includes('--long-only')
const summaryFile = args.includes('--summary') ? args[args.indexOf('--summary') + 1] : null
const required = process.env.REQUIRE_ALL === '1'

setUp()
mkdirSync(join(ROOT, '.cache'), { recursive: true })
const absent = missingStores()
const total = { passed: 0, failed: 0, skipped: 0 }
for (const { name, install } of absent) {
  console.error(
    `${name} is not there: ${install}. Its tests are ${required ? 'required, so this run fails' : 'left out'}.`,
  )
  if (required) total.failed += 1
}
if (total.failed === 0) {
  if (!longOnly) {
    run('the whole suite', process.execPath, [])
    runUnderCurrentNode()
  }
  if (all || longOnly) run('the long runs', process.execPath, ['test/model', 'test/race'], LONG())
}
if (summaryFile) writeFileSync(summaryFile, JSON.stringify(total))
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
console.log(`${total.passed} passed, ${total.failed} failed${skipped}`)
if (total.failed > 0 || total.passed === 0 || (required && total.skipped > 0)) process.exitCode = 1

/** How much longer the long runs are. */
function LONG() {
  return { MODEL_RUNS: '3000', MODEL_MEMORY_RUNS: '60000', RACE_SECONDS: '60' }
}

function run(title, node, filters, env = {}) {
  const report = join(ROOT, '.cache', 'vitest-report.json')
  writeFileSync(report, '{}')
  const started = Date.now()
  const { status } = spawnSync(
    node,
    [
      join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'),
      'run',
      ...filters,
      ...leftOut(),
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ],
    { cwd: ROOT, stdio: 'inherit', env: { ...process.env, DIALECTS: dialects().join(','), ...env } },
  )
  const counts = JSON.parse(readFileSync(report, 'utf8'))
  const failed = counts.numFailedTests ?? 0
  total.passed += counts.numPassedTests ?? 0
  // A run can fail without a failed test: a file that does not load, an error that nobody caught.
  total.failed += status !== 0 && failed === 0 ? 1 : failed
  total.skipped += (counts.numPendingTests ?? 0) + (counts.numTodoTests ?? 0)
  console.log(`${title}: ${Math.round((Date.now() - started) / 1000)} s`)
}

/** Both SQLite drivers have to be proven: the one that is compiled here, and the one that newer versions bring. */
function runUnderCurrentNode() {
  const found = spawnSync(process.execPath, [join(ROOT, 'scripts', 'current-node.mjs')], { encoding: 'utf8' })
  const node = found.stdout.trim()
  if (found.status !== 0 || node === '') {
    console.error(found.stderr)
    if (required) total.failed += 1
    return
  }
  run('SQLite under a current Node', node, ['test/stores/sqlite'])
}

function dialects() {
  const without = new Set(absent.map(({ dialect }) => dialect))
  return ['sqlite', 'postgres', 'mysql'].filter((dialect) => !without.has(dialect))
}

function leftOut() {
  return absent.flatMap(({ files }) => files.flatMap((pattern) => ['--exclude', pattern]))
}

function missingStores() {
  const postgresFolders = existsSync('/usr/lib/postgresql')
    ? readdirSync('/usr/lib/postgresql').map((version) => join('/usr/lib/postgresql', version, 'bin'))
    : []
  const missing = []
  if (!process.env.PAIDONCE_TEST_POSTGRES_URL && !has('initdb', postgresFolders)) {
    missing.push({
      name: 'PostgreSQL',
      dialect: 'postgres',
      install: 'apt-get install postgresql',
      files: ['test/stores/postgres*'],
    })
  }
  if (!process.env.PAIDONCE_TEST_MYSQL_URL && !has('mariadbd', ['/usr/sbin'])) {
    missing.push({
      name: 'MariaDB',
      dialect: 'mysql',
      install: 'apt-get install mariadb-server',
      files: ['test/stores/mysql*'],
    })
  }
  if (!has('pgbouncer', ['/usr/sbin'])) {
    missing.push({
      name: 'pgbouncer',
      dialect: null,
      install: 'apt-get install pgbouncer',
      files: ['test/stores/postgres-pooler*'],
    })
  }
  return missing
}

function has(program, folders) {
  const path = (process.env.PATH ?? '').split(delimiter)
  return [...path, ...folders].some((folder) => folder !== '' && existsSync(join(folder, program)))
}
