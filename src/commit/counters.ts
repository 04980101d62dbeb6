/**
 * How often each path of the group commit was taken. The suites fail where one that applies stayed 0.
 *
 * @module
 */

export interface CommitCounters {
  groups: number
  settled: number
  /** Claims settled as copies of the leader in their group. */
  copies: number
  /** Groups that started again because somebody else wrote one of their entries first. */
  raced: number
  /** Groups that started again after a deadlock, a serialization failure or a lost connection. */
  retried: number
  /** COMMITs whose reply was lost. */
  unknownCommits: number
  /** Claims left out because their wallet was locked elsewhere. */
  skippedWallets: number
  /** Claims set aside because their key was written and not committed elsewhere. */
  busyKeys: number
  /** Groups cut in two. */
  splits: number
  /** Claims that the database refused alone. */
  refused: number
  /** Reversals handed to the lane of the stored credit's user. */
  rerouted: number
  /** Claims dropped from a queue at their deadline. */
  expiredQueued: number
  /** Claims answered at their deadline while their transaction ran. */
  expiredSent: number
  /** Claims refused because the queue was full. */
  full: number
  /** Claims turned away because the database was away. */
  away: number
  /** Errors that no store should let out. */
  bugs: number
}

export function zeroCounters(): CommitCounters {
  return {
    groups: 0,
    settled: 0,
    copies: 0,
    raced: 0,
    retried: 0,
    unknownCommits: 0,
    skippedWallets: 0,
    busyKeys: 0,
    splits: 0,
    refused: 0,
    rerouted: 0,
    expiredQueued: 0,
    expiredSent: 0,
    full: 0,
    away: 0,
    bugs: 0,
  }
}
