/**
 * What a database would hold, and the locks that its transactions would take.
 *
 * @module
 */
import { keyOf, pairOf } from '../../ledger/group.js'
import type { PostbackRow } from '../../ledger/postback-row.js'
import type { EntryRow, LedgerEntry, StoredEntry, StoredPair } from '../../ledger/types.js'

/** An inbox row with what happened to it later. */
export interface KeptPostback extends PostbackRow {
  readonly resolvedReason: string | null
}

/** One outbox message, by the key of the entry that it announces. */
export interface OutboxRow {
  readonly event: string
  readonly idSpace: string
  readonly transactionKey: string
  readonly entry: string
  readonly user: string
}

export interface MemoryState {
  readonly ledger: LedgerEntry[]
  /** Index of the ledger by id space and transaction key. */
  readonly byKey: Map<string, LedgerEntry[]>
  readonly wallets: Map<string, bigint>
  readonly postbacks: Map<string, KeptPostback>
  readonly outbox: OutboxRow[]
  readonly settings: Map<string, string>
  /** Wallets and ledger keys that an open transaction holds. */
  readonly locks: Map<string, object>
  /** Called whenever a lock is given back. */
  readonly waiters: Set<() => void>
}

export function emptyState(): MemoryState {
  return {
    ledger: [],
    byKey: new Map(),
    wallets: new Map(),
    postbacks: new Map(),
    outbox: [],
    settings: new Map(),
    locks: new Map(),
    waiters: new Set(),
  }
}

export function readPair(state: MemoryState, key: { idSpace: string; transactionKey: string }): StoredPair {
  const entries = state.byKey.get(keyOf(key)) ?? []
  return pairOf(entries.filter((row): row is LedgerEntry & StoredEntry => isPostbackEntry(row)))
}

function isPostbackEntry(row: LedgerEntry): boolean {
  return row.entry === 'credit' || row.entry === 'reversal'
}

export function findEntry(
  state: MemoryState,
  row: { idSpace: string; transactionKey: string; entry: string },
): LedgerEntry | undefined {
  return state.byKey.get(keyOf(row))?.find((stored) => stored.entry === row.entry)
}

/** Writes one entry; the caller has made sure that its key is free. */
export function appendEntry(state: MemoryState, row: EntryRow, createdAt: Date): LedgerEntry {
  const { movesBalance: _, ...kept } = row
  const entry: LedgerEntry = { ...kept, id: String(state.ledger.length + 1), createdAt, cleared: false }
  state.ledger.push(entry)
  const key = keyOf(row)
  const siblings = state.byKey.get(key)
  if (siblings === undefined) state.byKey.set(key, [entry])
  else siblings.push(entry)
  return entry
}

/** The message that an entry is announced by, or null where it moves no money or was moved long ago. */
export function outboxRowOf(row: EntryRow): OutboxRow | null {
  if (row.amount === 0n || row.imported) return null
  return {
    event: `${row.entry}.booked`,
    idSpace: row.idSpace,
    transactionKey: row.transactionKey,
    entry: row.entry,
    user: row.user,
  }
}

/** Takes locks all at once; gives back what it took when one of them is held by another transaction. */
export function tryLock(state: MemoryState, owner: object, names: readonly string[]): boolean {
  const free = names.every((name) => {
    const holder = state.locks.get(name)
    return holder === undefined || holder === owner
  })
  if (free) for (const name of names) state.locks.set(name, owner)
  return free
}

export function releaseLocks(state: MemoryState, owner: object): void {
  for (const [name, holder] of state.locks) if (holder === owner) state.locks.delete(name)
  for (const wake of [...state.waiters]) wake()
}

/** Resolves when some lock was given back, or after `milliseconds`. */
export function lockReleased(state: MemoryState, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer)
      state.waiters.delete(wake)
      resolve()
    }
    const timer = setTimeout(wake, milliseconds)
    state.waiters.add(wake)
  })
}

export const walletLock = (user: string): string => `wallet\u0000${user}`
export const entryLock = (row: { idSpace: string; transactionKey: string; entry: string }): string =>
  `key\u0000${keyOf(row)}\u0000${row.entry}`
