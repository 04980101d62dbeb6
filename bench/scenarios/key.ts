/**
 * `key`: another session holds one ledger entry that it has written and not committed, for three seconds; then it rolls
 * back.
 *
 * @module
 */
import { callAt } from '../load/calls.js'
import { HELD_PLAN, runHeld, type HeldScenario } from './held.js'
import type { Scenario } from './scenario.js'

const HELD: HeldScenario = {
  name: 'key',
  connections: 64,
  heldMs: 3_000,
  hold: (stage) => stage.database.holdKey(callAt(HELD_PLAN, 0).tx),
  calls: 1,
}

export const KEY: Scenario = {
  name: HELD.name,
  stores: ['postgres', 'mariadb'],
  connections: HELD.connections,
  needsWrk: true,
  run: (sitting, store) => runHeld(HELD, sitting, store),
}
