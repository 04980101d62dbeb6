/**
 * One process of a race: opens its own stores, writes random groups, and prints what it sent and was told.
 *
 * @module
 */
import type { LedgerStore } from '../../src/ledger/store.js'
import { openStore } from '../../src/server/open-store.js'
import type { StoreSettings } from '../../src/server/open-store.js'
import { DEFAULT_SETTINGS } from '../../src/server/settings.js'
import { race, seeded } from './race.js'

const [url = '', writers = '1', milliseconds = '0', seed = '0', startAt = '0'] = process.argv.slice(2)
const settings: StoreSettings = { ...DEFAULT_SETTINGS, database: url }
const stores: LedgerStore[] = []
for (let index = 0; index < Number(writers); index += 1) {
  const store = await openStore(settings)
  await store.start()
  stores.push(store)
}
await new Promise((resolve) => setTimeout(resolve, Math.max(0, Number(startAt) - Date.now())))
const report = await race(
  stores.map((store) => (members) => store.applyGroup(members, { waitMs: null, owns: () => true })),
  Number(milliseconds),
  seeded(Number(seed)),
  Number(startAt),
)
for (const store of stores) await store.close()
process.stdout.write(
  JSON.stringify(report, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
)
