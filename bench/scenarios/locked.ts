/**
 * `locked`: another session holds one wallet's row for eight seconds.
 *
 * @module
 */
import { userName } from '../load/calls.js'
import { HELD_WALLET, runHeld, type HeldScenario } from './held.js'
import type { Scenario } from './scenario.js'

const HELD: HeldScenario = {
  name: 'locked',
  connections: 64,
  heldMs: 8_000,
  hold: (stage) => stage.database.holdWallet(userName(HELD_WALLET)),
  calls: 30,
}

export const LOCKED: Scenario = {
  name: HELD.name,
  stores: ['postgres', 'mariadb'],
  connections: HELD.connections,
  needsWrk: true,
  run: (sitting, store) => runHeld(HELD, sitting, store),
}
