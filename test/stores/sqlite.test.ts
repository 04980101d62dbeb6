import { describe, expect, it } from 'vitest'
import { storeSuite } from '../../src/testing/index.js'
import { openFileStore, openSqliteSuite } from './sqlite-files.js'

storeSuite({ describe, it }, 'sqlite', openSqliteSuite, { locks: false })

describe('sqlite driver', () => {
  it('is node:sqlite where Node has it without a flag, else better-sqlite3', async () => {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
    const builtIn = major > 22 || (major === 22 && minor >= 13)
    const { store, raw, close } = await openFileStore()
    try {
      expect([store.driver, raw.driver]).toEqual(
        builtIn ? ['node:sqlite', 'node:sqlite'] : ['better-sqlite3', 'better-sqlite3'],
      )
    } finally {
      await close()
    }
  })
})
