/**
 * The published store suite on PostgreSQL with every group SERIALIZABLE: serialization failures are run again.
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

storeSuite({ describe, it }, 'PostgreSQL, serializable', openSuiteOn(server, { isolation: 'serializable' }))
