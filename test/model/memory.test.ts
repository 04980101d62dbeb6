import fc from 'fast-check'
import { expect, it } from 'vitest'
import { StoreError } from '../../src/errors.js'
import {
  memoryStore,
  MEMORY_STEPS,
  type MemoryStep,
  type MemoryStore,
} from '../../src/stores/memory/index.js'
import { checkLedger, type RawLedger } from '../oracle/check-ledger.js'
import { histories, FAULT_KINDS, type History } from './history.js'
import { runHistory } from './run-history.js'

const RUNS = Number(process.env['MODEL_MEMORY_RUNS'] ?? 10_000)

it(`${RUNS} random histories with crashes, lost replies and races between two receivers`, async () => {
  const struck = new Map<string, number>()
  let finished = 0
  await fc.assert(
    fc.asyncProperty(histories(true), async (history) => {
      await play(history, struck)
      finished += 1
    }),
    { numRuns: RUNS, endOnFailure: false },
  )
  expect(finished).toBeGreaterThanOrEqual(RUNS)
  // A fault that never struck proves nothing: every kind has to have struck at every step it can strike at.
  for (const kind of FAULT_KINDS) {
    for (const step of stepsOf(kind))
      expect(struck.get(`${kind} at ${step}`) ?? 0, `${kind} at ${step}`).toBeGreaterThan(0)
  }
}, 300_000)

/** The steps at which a fault can strike: nothing is unknown before COMMIT was sent, everything is after it. */
function stepsOf(kind: (typeof FAULT_KINDS)[number]): readonly MemoryStep[] {
  if (kind === 'crash') return MEMORY_STEPS
  if (kind === 'lost-reply') return ['committed']
  if (kind === 'lost-commit') return ['commit']
  return MEMORY_STEPS.filter((step) => step !== 'committed' && step !== 'commit')
}

async function play(history: History, struck: Map<string, number>): Promise<void> {
  let steps = 0
  let crashes = 0
  let kill!: () => void
  let nextCrash = new Promise<void>((resolve) => (kill = resolve))
  const faults = new Map(history.faults.map(({ at, kind }) => [at, kind]))
  const processOf = (): ((step: MemoryStep) => Promise<void>) => {
    return async (step) => {
      const born = crashes
      steps += 1
      const turns = history.turns[steps % history.turns.length] ?? 0
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
      const kind = faults.get(steps)
      if (kind !== undefined && stepsOf(kind).includes(step)) {
        faults.delete(steps)
        struck.set(`${kind} at ${step}`, (struck.get(`${kind} at ${step}`) ?? 0) + 1)
        if (kind === 'crash') {
          crashes += 1
          kill()
          nextCrash = new Promise((resolve) => (kill = resolve))
        } else throw new StoreError(kind === 'lost-reply' || kind === 'lost-commit' ? 'unknown' : kind, kind)
      }
      // What ran in a killed process stops here: its transaction is gone, its locks are released.
      if (born !== crashes) throw new StoreError('retry', 'the process was killed')
    }
  }
  const first = memoryStore({ lanes: 2, step: processOf() })
  const second = memoryStore({ lanes: 2, shareWith: first, step: processOf() })
  const sent = await runHistory(history, {
    stores: [first, second],
    prefix: '',
    addUser: async (user) => {
      first.state.wallets.set(user, first.state.wallets.get(user) ?? 0n)
    },
    nextCrash: () => nextCrash,
  })
  const faultsFound = checkLedger(rawOf(first), sent)
  if (faultsFound.length > 0) throw new Error(faultsFound.join('\n'))
}

function rawOf({ state }: MemoryStore): RawLedger {
  return {
    entries: state.ledger.map((row) => ({
      order: BigInt(row.id),
      idSpace: row.idSpace,
      key: row.transactionKey,
      entry: row.entry,
      user: row.user,
      amount: row.amount,
      balanceAfter: row.balanceAfter,
      decision: row.decision,
      postbackId: row.postbackId,
    })),
    wallets: state.wallets,
  }
}
