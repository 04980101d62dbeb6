import { describe, it } from 'vitest'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/index.js'
import { storeSuite } from '../../src/testing/index.js'
import type { StoreOptions } from '../../src/ledger/store.js'
import type { SuiteStore } from '../../src/testing/suite-store.js'

storeSuite({ describe, it }, 'memory', async (options) => openMemory(options))

/** The memory store with the suite's handles on its insides. */
async function openMemory(options: StoreOptions): Promise<SuiteStore> {
  const store = memoryStore(options)
  await store.start()
  return {
    store,
    second: async () => memoryStore({ ...options, shareWith: store }),
    addWallet: async (user, balance = 0n) => {
      store.state.wallets.set(user, balance)
    },
    removeWallet: async (user) => {
      store.state.wallets.delete(user)
    },
    corruptBalanceAfter: async (user) => {
      corrupt(store, user)
    },
    lockWallet: async (user) => letGo(store.hold({ user })),
    holdKey: async (idSpace, transactionKey) =>
      letGo(store.hold({ idSpace, transactionKey, entry: 'credit' })),
    countMessages: async () => store.state.outbox.length,
    close: () => store.close(),
  }
}

function letGo(release: () => void): () => Promise<void> {
  return async () => {
    release()
  }
}

function corrupt(store: MemoryStore, user: string): void {
  const index = store.state.ledger.findIndex((entry) => entry.user === user)
  const entry = store.state.ledger[index]
  if (entry !== undefined) store.state.ledger[index] = { ...entry, balanceAfter: 77_777n }
}
