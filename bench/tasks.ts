/**
 * Everything that can be measured, each as a task, and the choice of those that were asked for.
 *
 * @module
 */
import { measureCeiling } from './ceiling.js'
import { runComparison } from './comparison.js'
import type { Flags } from './flags.js'
import type { ResultRow, StoreName } from './result-row.js'
import { SCENARIOS } from './scenarios/index.js'
import type { Sitting } from './sitting.js'
import { COMPARISONS } from './workloads.js'

export interface Task {
  readonly name: string
  readonly store: StoreName
  readonly connections: number
  readonly needsWrk: boolean
  readonly quick: boolean
  run(sitting: Sitting): Promise<ResultRow>
}

export const TASKS: readonly Task[] = [
  ...COMPARISONS.map((comparison): Task => {
    const { name, store, connections, quick = false } = comparison
    return {
      name,
      store,
      connections,
      needsWrk: true,
      quick,
      run: async (sitting) => runComparison(sitting, comparison, await measureCeiling(sitting, connections)),
    }
  }),
  ...SCENARIOS.flatMap((scenario) =>
    scenario.stores.map((store): Task => {
      const { name, connections, needsWrk, quick = false } = scenario
      return { name, store, connections, needsWrk, quick, run: (sitting) => scenario.run(sitting, store) }
    }),
  ),
]

export const WORKLOAD_NAMES: readonly string[] = [...new Set(TASKS.map(({ name }) => name))]

/** A workload that was named is run whether or not it is part of `--quick`. */
export function chooseTasks(tasks: readonly Task[], { only, stores, quick }: Flags): Task[] {
  return tasks.filter(
    (task) =>
      stores.includes(task.store) && (only === null ? !quick || task.quick : only.includes(task.name)),
  )
}

export function titleOf({ name, store, connections }: Task): string {
  return connections === 0 ? `${name}, ${store}` : `${name}, ${store}, ${connections} connections`
}
