/**
 * The program of the thread that writes groups, as text: a bundler that moves or renames files cannot lose it.
 *
 * @module
 */

export type WriterReply =
  | { readonly kind: 'committed' }
  | { readonly kind: 'unusable' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'open' }
  | { readonly kind: 'missed'; readonly step: number; readonly row: number }
  | {
      readonly kind: 'failed'
      readonly message: string
      readonly code: unknown
      readonly errcode: unknown
      readonly phase: string
    }

export const WRITER_SOURCE = `
const { parentPort, workerData } = require('node:worker_threads')
const { file, module, settings } = workerData
const builtIn = module === 'node:sqlite'
process.emitWarning = () => undefined
let Database
let database
let statements

function open() {
  const opened = builtIn ? new Database(file) : new Database(file, { timeout: 0, fileMustExist: true })
  opened.exec(settings)
  statements = new Map()
  database = opened
}

function prepare(sql) {
  let statement = statements.get(sql)
  if (statement === undefined) {
    statement = database.prepare(sql)
    statements.set(sql, statement)
  }
  return statement
}

function inTransaction() {
  const told = database.inTransaction ?? database.isTransaction
  if (typeof told === 'boolean') return told
  try {
    database.exec('begin')
  } catch {
    return true
  }
  database.exec('rollback')
  return false
}

function rollBack() {
  try {
    if (inTransaction()) database.exec('rollback')
  } catch {
    drop()
  }
}

function drop() {
  const dropped = database
  database = undefined
  try {
    dropped?.close()
  } catch {}
}

// Bytes travel as text.
function unpack(values) {
  for (let index = 0; index < values.length; index += 1) {
    if (Array.isArray(values[index])) values[index] = Buffer.from(values[index][0], 'latin1')
  }
  return values
}

function run(steps) {
  for (let step = 0; step < steps.length; step += 1) {
    const { sql, rows, changes } = steps[step]
    if (rows.length === 0) continue
    const statement = prepare(sql)
    for (let row = 0; row < rows.length; row += 1) {
      const done = statement.run(...unpack(rows[row]))
      if (Number(done.changes) !== changes) return { kind: 'missed', step, row }
    }
  }
  return null
}

function write(steps) {
  let phase = 'begin'
  try {
    if (database === undefined) open()
    database.exec('begin immediate')
    phase = 'statement'
    const missed = run(steps)
    if (missed !== null) {
      rollBack()
      return missed
    }
    // SQLite ends a transaction by itself after some errors; what would follow then would run in autocommit.
    if (!inTransaction()) return { kind: 'ended' }
    phase = 'commit'
    database.exec('commit')
    if (!inTransaction()) return { kind: 'committed' }
    drop()
    return { kind: 'open' }
  } catch (error) {
    const { message, code, errcode } = error
    if (database !== undefined) rollBack()
    // What a COMMIT that failed has left is read anew.
    if (phase === 'commit') drop()
    return { kind: 'failed', message, code, errcode, phase }
  }
}

function load() {
  try {
    Database = builtIn ? require('node:sqlite').DatabaseSync : require(module)
    return true
  } catch {
    return false
  }
}

parentPort.on('message', (steps) => {
  if (steps === null) {
    drop()
    parentPort.close()
  } else {
    parentPort.postMessage(Database !== undefined || load() ? write(steps) : { kind: 'unusable' })
  }
})
`
