/**
 * Plays a history against one or two committers, as networks would: every call is sent again until its answer says
 * that it need not be. Returns what was sent and what was answered.
 */
import { createCommitter, type Committer } from '../../src/commit/committer.js'
import type { LedgerStore } from '../../src/ledger/store.js'
import { makeClaim, makeItem } from '../../src/testing/index.js'
import type { Sent } from '../oracle/check-ledger.js'
import type { Call, History } from './history.js'

export interface Stage {
  /** Stores on one database; calls go to them in turn. */
  readonly stores: readonly LedgerStore[]
  /** Distinguishes the keys and users of this history from those of others. */
  readonly prefix: string
  readonly addUser: (user: string) => Promise<void>
  /** Resolves when the processes are killed the next time; their committers never answer again. */
  readonly nextCrash: () => Promise<void>
}

/** Outcomes after which a network stops sending. */
const FINAL = new Set(['credited', 'reversed', 'duplicate', 'already_reversed', 'conflict', 'tombstoned'])
const MAX_TRIES = 12

export async function runHistory(history: History, stage: Stage): Promise<Sent[]> {
  const sent: Sent[] = []
  const users = [0, 1, 2].map((n) => `${stage.prefix}u${n}`)
  await stage.addUser(users[0] as string)
  await stage.addUser(users[1] as string)
  let committers = start(stage)
  let crash = stage.nextCrash()
  let turn = 0
  const deliver = async (call: Call): Promise<string | null> => {
    turn += 1
    const attempt: Sent = {
      postbackId: '',
      idSpace: 'n',
      key: `${stage.prefix}k${call.key}`,
      entry: call.entry,
      user: users[call.user] as string,
      amount: BigInt(call.amount),
      outcome: null,
    }
    const claim = makeClaim({
      transactionId: attempt.key,
      entry: call.entry,
      user: attempt.user,
      amount: attempt.amount,
      receivedAmount: String(call.amount),
    })
    const record = { ...attempt, postbackId: claim.postbackId }
    sent.push(record)
    const committer = committers[turn % committers.length] as Committer
    const answer = committer.submit(makeItem(claim), 100, performance.now() + 4_000)
    const settlement = await Promise.race([answer, crash.then(() => null)])
    if (settlement === null) return null
    if (settlement.fate === 'committed') record.outcome = settlement.settled.outcome
    return record.outcome
  }
  for (let burst = 0; burst <= Math.max(history.bursts.length, history.userComesAt); burst += 1) {
    if (burst === history.userComesAt) await stage.addUser(users[2] as string)
    await Promise.all(
      (history.bursts[burst] ?? []).map(async (call) => {
        for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
          const outcome = await deliver(call)
          if (stage.nextCrash() !== crash) {
            crash = stage.nextCrash()
            committers = start(stage)
          }
          if (outcome !== null && FINAL.has(outcome)) return
          // An unknown user is sent again later, when the network's schedule comes to it.
          if (outcome === 'unknown_user' && burst < history.userComesAt) return
        }
        throw new Error(`${JSON.stringify(call)} was still not settled after ${MAX_TRIES} tries.`)
      }),
    )
  }
  await Promise.all(committers.map((committer) => committer.drain()))
  return sent
}

function start({ stores }: Stage): Committer[] {
  return stores.map((store) =>
    createCommitter(store, {
      sleep: async () => {
        await turnOfTheLoop()
      },
    }),
  )
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
