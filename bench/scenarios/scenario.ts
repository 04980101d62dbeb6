/**
 * A workload that is no plain comparison: something happens meanwhile, or something else than calls is measured. Each
 * is a file of this folder and is named in `index.ts`.
 *
 * @module
 */
import type { ResultRow, StoreName } from '../result-row.js'
import type { Sitting } from '../sitting.js'

export interface Scenario {
  readonly name: string
  readonly stores: readonly StoreName[]
  /** For the table; 0 where nothing is sent over HTTP. */
  readonly connections: number
  readonly needsWrk: boolean
  /** Part of `--quick`. */
  readonly quick?: boolean
  /**
   * Runs it once on a store. Whatever is started is put on `sitting.cleanup`; a ledger that is wrong is thrown as a
   * `LedgerFault`.
   */
  run(sitting: Sitting, store: StoreName): Promise<ResultRow>
}

/** The row of a scenario, with what every row says of its run. */
export function scenarioRow(
  { name, connections }: Pick<Scenario, 'name' | 'connections'>,
  sitting: Sitting,
  row: Pick<ResultRow, 'store' | 'measures'> & Partial<ResultRow>,
): ResultRow {
  const { rounds, seconds } = sitting.lengths
  return { workload: name, connections, date: new Date().toISOString(), rounds, seconds, ...row }
}
