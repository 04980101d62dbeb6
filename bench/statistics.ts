/**
 * Medians and ratios of runs. Runs of one round stand beside each other, so that what slows the machine down for a
 * minute slows both.
 *
 * @module
 */

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle]
  if (upper === undefined) throw new RangeError('There is no median of nothing.')
  const lower = sorted[middle - 1]
  return sorted.length % 2 === 0 && lower !== undefined ? (lower + upper) / 2 : upper
}

export interface Ratio {
  readonly value: number
  readonly low: number
  readonly high: number
}

/** The median, least and greatest of the ratios within each round. */
export function ratioByPairs(ours: readonly number[], theirs: readonly number[]): Ratio {
  if (ours.length !== theirs.length) throw new RangeError('Every run needs the other run of its round.')
  const ratios = ours.map((value, round) => value / (theirs[round] ?? Number.NaN))
  return { value: median(ratios), low: Math.min(...ratios), high: Math.max(...ratios) }
}

/** The order of a round: rivals in turn, reversed in every second round. */
export function orderOf<T>(rivals: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? rivals : [...rivals].reverse()
}
