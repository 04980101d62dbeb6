/**
 * The published store suite on MariaDB.
 *
 * @module
 */
import { afterAll, describe, it } from 'vitest'
import { groupSuite } from '../../src/testing/store-suite-group.js'
import { lockSuite } from '../../src/testing/store-suite-locks.js'
import { storeSuite } from '../../src/testing/store-suite.js'
import { startMariadb } from '../servers/mariadb.js'
import { openSuiteOn } from './mysql-suite.js'

const server = await startMariadb()

afterAll(async () => {
  await server.stop()
})

storeSuite({ describe, it }, 'MySQL', openSuiteOn(server))

// Everything that touches a balance once more, on a table of the publisher's in the charset that most of them have.
describe("MySQL, the publisher's wallets", () => {
  const open = openSuiteOn(
    server,
    'create table users (id varchar(255) character set utf8mb4 primary key, coins decimal(19, 3) not null)',
  )
  groupSuite({ describe, it }, open)
  lockSuite({ describe, it }, open)
})
