/**
 * The store port: one named operation for each thing that has to happen in the database. A store runs its own
 * transactions; nobody outside ever holds one open.
 *
 * Every operation rejects with a `StoreError` whose `failure` tells how to treat it.
 *
 * @module
 */
import type { Answer, Outcome, PostbackEntry } from '../outcome.js'
import type { UnknownUserPolicy } from './decide.js'
import type { GroupMember, MemberResult } from './group.js'
import type { PostbackRow } from './postback-row.js'
import type { EntryKind, LedgerEntry, StoredEntry } from './types.js'

export type Dialect = 'memory' | 'sqlite' | 'postgres' | 'mysql'

/** The publisher's own wallet table; names are taken as they are and quoted. */
export interface WalletTable {
  readonly table: string
  readonly id: string
  readonly balance: string
  readonly schema?: string
}

/** What every store is told. */
export interface StoreOptions {
  /** Decimals of a coin, 0 to 6; fixed in the database at the first start. Default 3. */
  readonly amountScale?: number
  /** What happens to a credit whose user has no wallet. Default `retry`. */
  readonly unknownUser?: UnknownUserPolicy
  /** The publisher's own wallet table; without it the store keeps its own. */
  readonly wallets?: WalletTable
  /** Prefix of our tables (default `paidonce_`) and their schema. */
  readonly tables?: { readonly prefix?: string; readonly schema?: string }
  /** What to do with the schema at start. Default `auto`. */
  readonly migrate?: 'auto' | 'check' | 'off'
  /** Write one outbox message for each entry that changes a balance, in the same transaction. Default false. */
  readonly outbox?: boolean
}

/** Something that start or doctor found about the database; `refuse` stops the start. */
export interface StoreFinding {
  readonly check: string
  readonly severity: 'ok' | 'warn' | 'refuse'
  readonly message: string
  /** What cures it: a statement, a setting or a sentence. */
  readonly cure: string | null
}

export interface GroupOptions {
  /** Null: leave locked wallets out. A number: wait that long for them, in milliseconds. */
  readonly waitMs: number | null
  /** How long to wait for a key that is written elsewhere and not committed, where the database can be told. */
  readonly keyWaitMs?: number
  /** Whether a wallet belongs to the lane that runs this group; the others come back as `elsewhere`. */
  readonly owns: (user: string) => boolean
}

/** `raced`: somebody else wrote one of the planned entries first; everything rolled back, start again. */
export type GroupResult =
  { readonly kind: 'applied'; readonly results: readonly MemberResult[] } | { readonly kind: 'raced' }

export interface Page {
  readonly limit: number
  /** What an earlier answer gave as `nextCursor`. */
  readonly cursor: string | null
}

export interface PageOf<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

export interface WalletRow {
  readonly user: string
  readonly balance: bigint
}

/** A correction by the operator, idempotent by its key. */
export interface Adjustment {
  readonly key: string
  readonly user: string
  /** Minor units, not 0; negative takes away. */
  readonly amount: bigint
  readonly reason: string
  readonly actor: string
  /** Allows the balance to go below zero. */
  readonly overdraw: boolean
}

export type AdjustmentResult =
  | { readonly kind: 'booked' | 'repeated'; readonly entry: LedgerEntry }
  | { readonly kind: 'unknown_user' | 'key_conflict' | 'insufficient_balance' | 'balance_limit' }

/** An inbox row as it is read back. */
export interface Postback extends PostbackRow {
  /** Open, and no ledger entry of its key exists. */
  readonly open: boolean
  readonly resolvedReason: string | null
}

/** Filters of the inbox; lists within one filter are alternatives, filters are combined. */
export interface PostbackFilter {
  readonly network?: readonly string[]
  readonly user?: readonly string[]
  readonly transactionId?: readonly string[]
  readonly outcome?: readonly Outcome[]
  readonly open?: boolean
  readonly since?: Date
  readonly until?: Date
  /** Prefix of a transaction or user id. */
  readonly q?: string
}

/** The answer that really left, where it differs from the one written with the row. */
export interface AnswerCorrection {
  readonly id: string
  readonly answer: Answer
}

/** A test credit that still stands. */
export interface StandingTest {
  readonly network: string
  readonly idSpace: string
  readonly transactionKey: string
  readonly transactionId: string
  readonly entry: PostbackEntry
  readonly credit: StoredEntry
}

/** One wallet against its ledger; amounts in minor units. */
export interface WalletAudit {
  readonly user: string
  /** Null where the wallet does not exist any more. */
  readonly balance: bigint | null
  /** Sum of every entry that changed this balance, imported ones excepted. */
  readonly ledgerTotal: bigint
  /** Balance after the newest entry that changed it; null without one. */
  readonly lastBalanceAfter: bigint | null
}

/** One entry whose balance after is not the one before plus its amount. */
export interface ChainBreak {
  readonly user: string
  readonly entryId: string
  readonly network: string
  readonly transactionId: string
  readonly entry: EntryKind
  readonly amount: bigint
  readonly balanceAfter: bigint
  /** What the entry before it left. */
  readonly balanceBefore: bigint
}

/** A reversal that contradicts its credit, or stands without one. */
export interface PairFault {
  readonly entryId: string
  readonly network: string
  readonly transactionId: string
  readonly user: string
  readonly fault: 'reversal_without_credit' | 'reversal_amount' | 'reversal_user' | 'orphan'
  readonly creditAmount: bigint | null
  readonly reversalAmount: bigint
}

export interface AuditBatch<T> {
  readonly items: readonly T[]
  /** Where the next batch starts; null after the last. */
  readonly next: string | null
}

/** Everything that Paidonce asks of a database. */
export interface LedgerStore {
  readonly dialect: Dialect
  readonly amountScale: number
  readonly unknownUser: UnknownUserPolicy
  /** Whether wallets are kept in the publisher's own table. */
  readonly foreignWallets: boolean
  /** How many groups may run at once. */
  readonly lanes: number
  /**
   * How many groups of one lane may be on their way at once, where the store writes them in order and none depends on what
   * was read before another one; default 1. The next one then waits at the store, and not for the answer to the last one.
   */
  readonly ahead?: number
  /** How many groups may wait for locks at once, beside the lanes. */
  readonly asides: number

  /** Brings the schema up to date (or checks it) and verifies what the promise rests on. Rejects with the first refusal. */
  start(): Promise<readonly StoreFinding[]>
  /** The same checks without any change. */
  inspect(): Promise<readonly StoreFinding[]>
  /** The SQL of every migration that is not applied yet, or of all of them. */
  migrationSql(which: 'pending' | 'all'): Promise<string>
  /** Resolves to the database's clock when the primary answers and can be written to. */
  ping(): Promise<Date>
  close(): Promise<void>

  /** Settles a group in one transaction. */
  applyGroup(members: readonly GroupMember[], options: GroupOptions): Promise<GroupResult>
  /**
   * Resolves to true when nobody else has an entry of this key written and not committed, to false when the time is
   * over. It holds no lock, and so nobody's wallet, while it waits.
   */
  awaitKey(
    key: { readonly idSpace: string; readonly transactionKey: string },
    waitMs: number,
  ): Promise<boolean>

  readWallet(user: string): Promise<WalletRow | null>
  listWallets(
    page: Page & { readonly prefix?: string; readonly negative?: boolean },
  ): Promise<PageOf<WalletRow>>
  /** True where it was made, false where it existed. Own wallets only. */
  createWallet(user: string): Promise<boolean>
  adjust(adjustment: Adjustment): Promise<AdjustmentResult>

  /** Newest first. Cleared tests are left out unless asked for. */
  listEntries(user: string, page: Page & { readonly cleared?: boolean }): Promise<PageOf<LedgerEntry>>
  /** Every entry of one transaction key or transaction id, oldest first. */
  readTransaction(idSpace: string, transactionId: string): Promise<readonly LedgerEntry[]>
  /** The id spaces of all ledger entries, each with one network that wrote there; the reserved space left out. */
  usedIdSpaces(): Promise<readonly { readonly idSpace: string; readonly network: string }[]>

  /** Rejected or dropped calls, outside any group. A row that exists is left as it is. */
  writePostbacks(rows: readonly PostbackRow[]): Promise<void>
  correctAnswers(corrections: readonly AnswerCorrection[]): Promise<void>
  /** Newest first. A page may end early, even empty, where much was looked at: `nextCursor` goes on from there. */
  listPostbacks(filter: PostbackFilter, page: Page): Promise<PageOf<Postback>>
  readPostback(id: string): Promise<Postback | null>
  /** Closes an open row; false where there is none. */
  resolvePostback(id: string, reason: string): Promise<boolean>
  /**
   * Deletes at most `limit` rows that arrived before `before`. Held calls and conflicts that nobody has settled stay;
   * of the others the network was told. Resolves to the number deleted.
   */
  prunePostbacks(prune: {
    readonly verified: boolean
    readonly before: Date
    readonly limit: number
  }): Promise<number>
  /** The sender addresses of verified calls since `since`, at most `limit`. */
  verifiedAddresses(
    since: Date,
    limit: number,
  ): Promise<readonly { readonly network: string; readonly ip: string }[]>

  /** Writes a setting unless it exists; resolves to the one that stands. */
  claimSetting(name: string, value: string): Promise<string>
  readSetting(name: string): Promise<string | null>
  replaceSetting(name: string, value: string): Promise<void>

  listStandingTests(network: string | null, limit: number): Promise<readonly StandingTest[]>
  /** Marks every entry of a test as cleared; resolves to the number marked. */
  markTestsCleared(network: string | null): Promise<number>

  auditWallets(after: string | null, limit: number): Promise<AuditBatch<WalletAudit>>
  auditChains(after: string | null, limit: number): Promise<AuditBatch<ChainBreak>>
  auditPairs(after: string | null, limit: number): Promise<AuditBatch<PairFault>>
}
