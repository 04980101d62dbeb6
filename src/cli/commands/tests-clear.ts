/**
 * `paidonce tests clear`: reverses every test credit that still stands, through the same key as a network would.
 *
 * @module
 */
import type { LedgerStore } from '../../ledger/store.js'
import type { Outcome } from '../../outcome.js'
import type { Receiver } from '../../receiver/types.js'
import { openReceiver } from '../open-receiver.js'
import { readSettings, withStore, type CommandRun, type GlobalOptions } from '../context.js'
import { EXIT } from '../failure.js'
import { refuseUnknownNetworks } from '../known-networks.js'

export interface TestsClearOptions extends GlobalOptions {
  readonly network?: string
}

const BATCH = 100

export interface ClearedTests {
  readonly reversed: number
  /** Standing credits that could not be reversed, by outcome. */
  readonly failed: Readonly<Partial<Record<Outcome, number>>>
  /** Entries that lists leave out from now on. */
  readonly marked: number
}

/** Clears the tests of one network, or of all. */
export async function clearTests(
  store: LedgerStore,
  receiver: Pick<Receiver, 'settle'>,
  network: string | null,
): Promise<ClearedTests> {
  let reversed = 0
  const failed: Partial<Record<Outcome, number>> = {}
  for (;;) {
    const standing = await store.listStandingTests(network, BATCH)
    let progress = 0
    for (const test of standing) {
      const { outcome } = await receiver.settle({
        network: test.network,
        idSpace: test.idSpace,
        transactionKey: test.transactionKey,
        transactionId: test.transactionId,
        entry: 'reversal',
        user: test.credit.user,
        test: true,
        actor: 'tests clear',
        reason: 'test cleared',
      })
      if (outcome === 'reversed' || outcome === 'already_reversed') progress += 1
      else failed[outcome] = (failed[outcome] ?? 0) + 1
    }
    reversed += progress
    // The same batch would come again: what cannot be reversed now must not keep the command going for ever.
    if (standing.length < BATCH || progress < standing.length) break
  }
  return { reversed, failed, marked: await store.markTestsCleared(network) }
}

export const testsClear: CommandRun<TestsClearOptions> = async (context, { network = null }) => {
  const { out } = context
  const { settings } = await readSettings(context)
  const cleared = await withStore(settings, async (store) => {
    await refuseUnknownNetworks(store, settings, network === null ? [] : [network])
    const receiver = openReceiver(store, settings)
    try {
      await receiver.start()
      return await clearTests(store, receiver, network)
    } finally {
      await receiver.close()
    }
  })
  const failures = Object.entries(cleared.failed)
  if (out.json) out.printJson(cleared)
  else {
    out.print(`Test credits reversed: ${cleared.reversed}. Entries marked as cleared: ${cleared.marked}.`)
    for (const [outcome, count] of failures) out.note(`${count} could not be reversed: ${outcome}.`)
  }
  return failures.length === 0 ? EXIT.fine : EXIT.found
}
