/**
 * All scenarios, in the order in which they run.
 *
 * @module
 */
import { BLIP } from './blip.js'
import { DATABASE_ALONE } from './database-alone.js'
import { DEEP } from './deep.js'
import { KEY } from './key.js'
import { LISTS } from './lists.js'
import { LOCKED } from './locked.js'
import { MEMORY } from './memory.js'
import { OVERLOAD } from './overload.js'
import type { Scenario } from './scenario.js'

export const SCENARIOS: readonly Scenario[] = [
  LOCKED,
  BLIP,
  KEY,
  DEEP,
  LISTS,
  MEMORY,
  OVERLOAD,
  DATABASE_ALONE,
]
