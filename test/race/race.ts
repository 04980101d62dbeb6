/**
 * A race on few keys and few wallets: several writers at once apply random groups for some seconds.
 *
 * @module
 */
import { StoreError } from '../../src/errors.js'
import type { GroupMember } from '../../src/ledger/group.js'
import type { GroupResult } from '../../src/ledger/store.js'
import { makeClaim, makeMember } from '../../src/testing/index.js'
import type { Sent } from '../oracle/check-ledger.js'

/** Applies one group in one attempt; the race runs it again where it did not pass. */
export type GroupWriter = (members: readonly GroupMember[]) => Promise<GroupResult>

export interface RaceReport {
  readonly sent: readonly Sent[]
  readonly groups: number
  readonly raced: number
  readonly retried: number
  readonly busy: number
}

const USERS = 3
/** Keys in play at one moment; the window moves on, so that fresh keys keep coming. */
const KEYS = 12
const WINDOW_MS = 40

/** @param startedAt wall time that the processes of one race share, so that their windows of keys move together */
export async function race(
  writers: readonly GroupWriter[],
  milliseconds: number,
  random: () => number,
  startedAt = Date.now(),
): Promise<RaceReport> {
  const sent: Sent[] = []
  const report = { groups: 0, raced: 0, retried: 0, busy: 0 }
  const until = performance.now() + milliseconds
  const run = async (write: GroupWriter): Promise<void> => {
    while (performance.now() < until) {
      const calls = randomCalls(Math.floor((Date.now() - startedAt) / WINDOW_MS), random)
      for (const { record } of calls) sent.push(record)
      await settle(write, calls, report, until)
    }
  }
  await Promise.all(writers.map(run))
  return { sent, ...report }
}

interface RacingCall {
  readonly member: GroupMember
  readonly record: Sent
}

function randomCalls(window: number, random: () => number): RacingCall[] {
  const base = window * 4
  const keys = new Set(
    Array.from({ length: 1 + Math.floor(random() * 8) }, () => base + Math.floor(random() * KEYS)),
  )
  return [...keys].map((key) => {
    // A key's right user and amount follow from the key; one call in eight says something else.
    const changed = random() < 0.125
    const user = `u${(key + (changed && random() < 0.5 ? 1 : 0)) % USERS}`
    const amount = changed && random() < 0.5 ? 9n : 5n
    const entry = random() < 0.65 ? 'credit' : 'reversal'
    const claim = makeClaim({
      transactionId: `k${key}`,
      user,
      amount,
      receivedAmount: amount.toString(),
      entry,
    })
    const record: Sent = {
      postbackId: claim.postbackId,
      idSpace: 'n',
      key: `k${key}`,
      entry,
      user,
      amount,
      outcome: null,
    }
    return { member: makeMember(claim), record }
  })
}

async function settle(
  write: GroupWriter,
  calls: readonly RacingCall[],
  report: Omit<RaceReport, 'sent'> & Record<'groups' | 'raced' | 'retried' | 'busy', number>,
  until: number,
): Promise<void> {
  let open = calls
  while (open.length > 0 && performance.now() < until + 5_000) {
    try {
      const result = await write(open.map(({ member }) => member))
      if (result.kind === 'raced') {
        report.raced += 1
        continue
      }
      report.groups += 1
      const left: RacingCall[] = []
      result.results.forEach((member, index) => {
        const call = open[index] as RacingCall
        if (member.kind === 'settled') call.record.outcome = member.leader.outcome
        else left.push(call)
      })
      report.busy += left.length
      open = left
      if (left.length > 0) await pause()
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      report.retried += 1
      await pause()
    }
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 4))
}

/** A small generator that can be started again from its seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
