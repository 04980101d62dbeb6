/**
 * The workloads and what each has to reach, as data.
 *
 * @module
 */
import type { ContenderName } from './contenders.js'
import type { Limits, StoreName } from './result-row.js'

/**
 * - `spread`: new transactions over all wallets.
 * - `hot`: new transactions of one wallet.
 * - `replay`: copies of what is booked.
 * - `mixed`: 70 % credits, 20 % copies, 5 % reversals, 5 % forged.
 */
export type Traffic = 'spread' | 'hot' | 'replay' | 'mixed'

/** Paidonce against rivals; the rival with the best median counts. */
export interface Comparison {
  readonly name: string
  readonly store: StoreName
  readonly connections: number
  readonly traffic: Traffic
  readonly ours: ContenderName
  readonly rivals: readonly ContenderName[]
  /** Ratios of ours to the rival's. The first that is given is the one that the table and the plot show. */
  readonly rate?: Limits
  readonly p50?: Limits
  readonly p99?: Limits
  /** Part of `--quick`. */
  readonly quick?: boolean
}

const POOLS = ['textbook 10', 'textbook 30'] as const
const POOLED = ['textbook 10, pooler', 'textbook 30, pooler'] as const
const QUARTER = { must: 0.25 }

function comparison(
  name: string,
  store: StoreName,
  connections: number,
  more: Partial<Comparison>,
): Comparison {
  const rivals = store === 'sqlite' ? (['textbook'] as const) : POOLS
  return { name, store, connections, traffic: 'spread', ours: 'Paidonce', rivals, ...more }
}

export const COMPARISONS: readonly Comparison[] = [
  comparison('spread', 'postgres', 64, { rate: { must: 7, goal: 10 }, p99: QUARTER, quick: true }),
  comparison('spread', 'postgres', 256, { rate: { must: 10, goal: 15 } }),
  comparison('hot', 'postgres', 64, { traffic: 'hot', rate: { must: 14, goal: 20 }, quick: true }),
  comparison('replay', 'postgres', 64, { traffic: 'replay', rate: { must: 6, goal: 9 }, quick: true }),
  comparison('mixed', 'postgres', 64, { traffic: 'mixed', rate: { must: 6, goal: 9 }, quick: true }),
  comparison('pooler', 'postgres', 64, {
    ours: 'Paidonce, pooler',
    rivals: POOLED,
    rate: { must: 5, goal: 7 },
  }),
  comparison('spread', 'mariadb', 64, { rate: { must: 5, goal: 8 }, quick: true }),
  comparison('hot', 'mariadb', 64, { traffic: 'hot', rate: { must: 9, goal: 15 } }),
  comparison('spread', 'sqlite', 64, { rate: { must: 5, goal: 8 }, p99: QUARTER, quick: true }),
  comparison('alone', 'postgres', 1, { p50: { must: 0.8, goal: 0.6 }, quick: true }),
  comparison('alone', 'mariadb', 1, { p50: { must: 0.8, goal: 0.6 } }),
  comparison('two', 'postgres', 64, { ours: 'Paidonce ×2', rivals: ['Paidonce'], rate: { must: 0.8 } }),
  comparison('two-hot', 'postgres', 64, {
    traffic: 'hot',
    ours: 'Paidonce ×2',
    rivals: ['Paidonce'],
    rate: { must: 0.5 },
  }),
]
