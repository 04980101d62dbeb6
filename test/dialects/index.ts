/**
 * Every real store; `DIALECTS=sqlite,postgres` narrows a run by hand.
 *
 * @module
 */
import type { DialectBench } from './dialect.js'
import { MYSQL } from './mysql.js'
import { POSTGRES } from './postgres.js'
import { SQLITE } from './sqlite.js'

const wanted = process.env['DIALECTS']?.split(',')

export const DIALECTS: readonly DialectBench[] = [SQLITE, POSTGRES, MYSQL].filter(
  ({ name }) => wanted?.includes(name) ?? true,
)

export type { Database, DialectBench, DialectServer } from './dialect.js'
