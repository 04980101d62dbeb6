/**
 * A receiver in miniature, run as a process of its own: books credits into a SQLite file and says so after each COMMIT.
 *
 * @module
 */
import { writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { StoreError } from '../../src/errors.js'
import { openSqlite } from '../../src/stores/sqlite/index.js'
import { makeClaim, makeMember } from '../../src/testing/claims.js'

const [file = '', prefix = '', count = '0'] = process.argv.slice(2)
const store = await openSqlite(file)
await store.start()

for (let first = 0; first < Number(count); first += 5) {
  const claims = Array.from({ length: 5 }, (_, n) =>
    makeClaim({ transactionId: `${prefix}${first + n}`, user: `u${(first + n) % 3}` }),
  )
  const members = claims.map((claim) => makeMember(claim))
  for (;;) {
    try {
      const result = await store.applyGroup(members, { waitMs: null, owns: () => true })
      if (result.kind === 'raced') continue
      result.results.forEach((member, n) => {
        const outcome = member.kind === 'settled' ? member.leader.outcome : member.kind
        writeSync(1, `${outcome} ${String(claims[n]?.transactionId)}\n`)
      })
      break
    } catch (error) {
      if (!(error instanceof StoreError) || error.failure !== 'retry') throw error
      await setTimeout(1 + Math.random() * 5)
    }
  }
}
await store.close()
