/**
 * The published store suite on PostgreSQL.
 *
 * @module
 */
import { afterAll, describe, it } from 'vitest'
import { storeSuite } from '../../src/testing/store-suite.js'
import { startPostgres } from '../servers/postgres.js'
import { openSuiteOn } from './postgres-suite.js'

const server = await startPostgres()

afterAll(async () => {
  await server.stop()
})

storeSuite({ describe, it }, 'PostgreSQL', openSuiteOn(server))
