/**
 * @module
 */
import { StoreError } from '../../errors.js'
import type { LedgerStore, Postback, PostbackFilter, StoreOptions } from '../../ledger/store.js'
import type { LedgerEntry } from '../../ledger/types.js'
import { adjustMemory } from './adjust.js'
import { applyMemoryGroup, awaitMemoryKey, type MemoryStep } from './apply-group.js'
import { auditMemoryChains, auditMemoryPairs, auditMemoryWallets } from './audit.js'
import {
  emptyState,
  walletLock,
  entryLock,
  tryLock,
  releaseLocks,
  type KeptPostback,
  type MemoryState,
} from './state.js'
import { keptRow, pruneMemoryPostbacks, verifiedMemoryAddresses } from './inbox.js'
import { isOpen, matches, pageOf } from './lists.js'

export interface MemoryStoreOptions extends StoreOptions {
  readonly now?: () => Date
  /** How many groups run at once; default 1. */
  readonly lanes?: number
  /** Called at every step of a group; what it throws is what the database would have failed with. */
  readonly step?: (step: MemoryStep) => Promise<void> | void
  /** Share another memory store's data, as two receivers share one database. */
  readonly shareWith?: MemoryStore
}

export interface MemoryStore extends LedgerStore {
  readonly state: MemoryState
  /** Holds a wallet or a ledger key as another session would; call what it returns to let go. */
  hold(
    what:
      | { readonly user: string }
      | { readonly idSpace: string; readonly transactionKey: string; readonly entry: string },
  ): () => void
}

/**
 * Makes a store that keeps everything in memory.
 *
 * @example
 * ```ts
 * import { memoryStore } from 'paidonce/memory'
 *
 * const store = memoryStore()
 * await store.createWallet('u1')
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const state = options.shareWith?.state ?? emptyState()
  const now = options.now ?? (() => new Date())
  const context = {
    state,
    now,
    unknownUser: options.unknownUser ?? 'retry',
    outbox: options.outbox ?? false,
    step: options.step ?? (() => undefined),
  }
  const byIdDescending = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? 1 : -1)
  const newestFirst = (a: LedgerEntry, b: LedgerEntry): number => Number(b.id) - Number(a.id)
  const readBack = (row: KeptPostback): Postback => ({ ...row, open: isOpen(state, row) })
  const isStanding = (entry: LedgerEntry): boolean =>
    entry.test &&
    entry.entry === 'credit' &&
    entry.decision === 'booked' &&
    !entry.cleared &&
    !state.ledger.some((other) => other.entry === 'reversal' && sameKey(other, entry))

  return {
    dialect: 'memory',
    amountScale: options.amountScale ?? 3,
    unknownUser: options.unknownUser ?? 'retry',
    foreignWallets: false,
    lanes: options.lanes ?? 1,
    asides: 4,
    state,
    hold(what) {
      const owner = {}
      const name = 'user' in what ? walletLock(what.user) : entryLock(what)
      if (!tryLock(state, owner, [name])) throw new StoreError('wallet_busy', `${name} is held already.`)
      return () => {
        releaseLocks(state, owner)
      }
    },
    start: async () => {
      state.settings.set(
        'amount_scale',
        state.settings.get('amount_scale') ?? String(options.amountScale ?? 3),
      )
      state.settings.set('ledger_id', state.settings.get('ledger_id') ?? crypto.randomUUID())
      return []
    },
    inspect: async () => [],
    migrationSql: async () => '',
    ping: async () => now(),
    close: async () => undefined,
    applyGroup: (members, groupOptions) => applyMemoryGroup(context, members, groupOptions),
    awaitKey: (key, waitMs) => awaitMemoryKey(state, key, waitMs),

    readWallet: async (user) => {
      const balance = state.wallets.get(user)
      return balance === undefined ? null : { user, balance }
    },
    listWallets: async ({ prefix, negative, ...page }) => {
      const rows = [...state.wallets]
        .map(([user, balance]) => ({ user, balance }))
        .filter((row) => row.user.startsWith(prefix ?? '') && (negative !== true || row.balance < 0n))
        .sort((a, b) => Buffer.compare(Buffer.from(a.user), Buffer.from(b.user)))
      return pageOf(rows, page, (row) => row.user)
    },
    createWallet: async (user) => {
      if (state.wallets.has(user)) return false
      state.wallets.set(user, 0n)
      return true
    },
    adjust: async (adjustment) => adjustMemory(state, adjustment, now, options.outbox ?? false),
    listEntries: async (user, { cleared, ...page }) =>
      pageOf(
        state.ledger
          .filter((entry) => entry.user === user && (cleared === true || !entry.cleared))
          .sort(newestFirst),
        page,
        (entry) => entry.id,
      ),
    readTransaction: async (idSpace, transactionId) =>
      state.ledger.filter(
        (entry) =>
          entry.idSpace === idSpace &&
          (entry.transactionId === transactionId || entry.transactionKey === transactionId),
      ),
    usedIdSpaces: async () => {
      const pairs = new Map(
        state.ledger
          .filter((entry) => entry.entry === 'credit' || entry.entry === 'reversal')
          .map(({ idSpace, network }) => [`${idSpace}\u0000${network}`, { idSpace, network }]),
      )
      return [...pairs.values()]
    },

    writePostbacks: async (rows) => {
      for (const row of rows) {
        if (!state.postbacks.has(row.id))
          state.postbacks.set(row.id, { ...keptRow(row), resolvedReason: null })
      }
    },
    correctAnswers: async (corrections) => {
      for (const { id, answer } of corrections) {
        const row = state.postbacks.get(id)
        if (row !== undefined) state.postbacks.set(id, { ...row, answer })
      }
    },
    listPostbacks: async (filter: PostbackFilter, page) =>
      pageOf(
        [...state.postbacks.values()]
          .map(readBack)
          .filter((row) => matches(row, filter))
          .sort(byIdDescending),
        page,
        (row) => row.id,
      ),
    readPostback: async (id) => {
      const row = state.postbacks.get(id)
      return row === undefined ? null : readBack(row)
    },
    resolvePostback: async (id, reason) => {
      const row = state.postbacks.get(id)
      if (row === undefined || !isOpen(state, row)) return false
      state.postbacks.set(id, { ...row, open: false, resolvedReason: reason })
      return true
    },
    prunePostbacks: async (prune) => pruneMemoryPostbacks(state, prune),
    verifiedAddresses: async (since, limit) => verifiedMemoryAddresses(state, since, limit),

    claimSetting: async (name, value) => {
      const standing = state.settings.get(name) ?? value
      state.settings.set(name, standing)
      return standing
    },
    readSetting: async (name) => state.settings.get(name) ?? null,
    replaceSetting: async (name, value) => {
      state.settings.set(name, value)
    },

    listStandingTests: async (network, limit) =>
      state.ledger
        .filter((entry) => isStanding(entry) && (network === null || entry.network === network))
        .slice(0, limit)
        .map((entry) => ({
          network: entry.network,
          idSpace: entry.idSpace,
          transactionKey: entry.transactionKey,
          transactionId: entry.transactionId,
          entry: 'credit',
          credit: { ...entry, entry: 'credit' },
        })),
    markTestsCleared: async (network) => {
      let marked = 0
      state.ledger.forEach((entry, index) => {
        if (!entry.test || entry.cleared || isStanding(entry)) return
        if (network !== null && entry.network !== network) return
        state.ledger[index] = { ...entry, cleared: true }
        const siblings = state.byKey.get(`${entry.idSpace}\u0000${entry.transactionKey}`)
        siblings?.splice(siblings.indexOf(entry), 1, state.ledger[index])
        marked += 1
      })
      return marked
    },

    auditWallets: async (after, limit) => auditMemoryWallets(state, after, limit),
    auditChains: async (after, limit) => auditMemoryChains(state, after, limit),
    auditPairs: async (after, limit) => auditMemoryPairs(state, after, limit),
  }
}

function sameKey(a: LedgerEntry, b: LedgerEntry): boolean {
  return a.idSpace === b.idSpace && a.transactionKey === b.transactionKey
}
