/**
 * Random histories of postbacks: what a network could send, in bursts that run at once. Everything follows from the
 * seed that fast-check gives.
 */
import fc from 'fast-check'

export interface Call {
  readonly key: number
  readonly entry: 'credit' | 'reversal'
  /** 0 is the right user, 1 another one, 2 a user without a wallet (until `adduser`). */
  readonly user: 0 | 1 | 2
  readonly amount: 5 | 9
}

export interface History {
  /** Calls of one burst are sent at once, the next burst when all of them are answered. */
  readonly bursts: readonly (readonly Call[])[]
  /** Before which burst the missing user is created. */
  readonly userComesAt: number
  /** Faults by the running number of the step at which they strike. */
  readonly faults: readonly { readonly at: number; readonly kind: FaultKind }[]
  /** Random choices of the scheduler: how many turns each step waits. */
  readonly turns: readonly number[]
}

export const FAULT_KINDS = ['crash', 'retry', 'lost-reply', 'lost-commit', 'away'] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

const call: fc.Arbitrary<Call> = fc.record({
  key: fc.integer({ min: 0, max: 3 }),
  entry: fc.oneof(
    { weight: 3, arbitrary: fc.constant('credit' as const) },
    { weight: 2, arbitrary: fc.constant('reversal' as const) },
  ),
  user: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0 as const) },
    { weight: 1, arbitrary: fc.constant(1 as const) },
    { weight: 1, arbitrary: fc.constant(2 as const) },
  ),
  amount: fc.oneof(
    { weight: 5, arbitrary: fc.constant(5 as const) },
    { weight: 1, arbitrary: fc.constant(9 as const) },
  ),
})

/** @param withFaults false for real stores, whose faults come from outside */
export function histories(withFaults: boolean): fc.Arbitrary<History> {
  return fc.record({
    bursts: fc.array(fc.array(call, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 }),
    userComesAt: fc.integer({ min: 0, max: 4 }),
    faults: withFaults
      ? fc.array(fc.record({ at: fc.integer({ min: 0, max: 60 }), kind: fc.constantFrom(...FAULT_KINDS) }), {
          maxLength: 4,
        })
      : fc.constant([]),
    turns: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 12 }),
  })
}
