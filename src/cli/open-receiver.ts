/**
 * A receiver on the configured database, for commands that book through the same key and the same group commit.
 *
 * @module
 */
import type { LedgerStore } from '../ledger/store.js'
import { createReceiver } from '../receiver/create-receiver.js'
import type { Receiver } from '../receiver/types.js'
import type { Settings } from '../server/settings.js'

/** Makes the receiver; it does not listen anywhere. */
export function openReceiver(store: LedgerStore, settings: Settings): Receiver {
  return createReceiver({
    store,
    networks: settings.networks,
    inbox: settings.inbox,
    ...(settings.publicUrl === null ? {} : { publicUrl: settings.publicUrl }),
  })
}
