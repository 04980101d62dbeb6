/**
 * The receiver's outside: one request in, one answer out, whatever server or framework stands around it.
 *
 * @module
 */
import type { CommitterOptions, CommitterStatus } from '../commit/committer.js'
import type { LedgerStore, PostbackFilter, StoreFinding } from '../ledger/store.js'
import type { Outcome, PostbackEntry, Settled } from '../outcome.js'
import type { NetworkConfig } from '../postback/network.js'

/** One HTTP call as it arrived. */
export interface ReceiverRequest {
  readonly method: string
  /** The raw request target, exactly as received: signatures are computed over it. */
  readonly url: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Uint8Array
  /** The peer's address; proxies are looked through only as far as `trustProxy` allows. */
  readonly remoteAddress: string
}

/** What goes back; never a redirect, always short text. */
export interface ReceiverResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Null where no configured network was called (404) or the method is not allowed (405). */
  readonly outcome: Outcome | null
}

/** What one call led to, for metrics and logs. Holds no secret and no raw URL. */
export interface ReceiverEvent {
  readonly network: string
  readonly outcome: Outcome | 'unknown_network' | 'method_not_allowed'
  readonly reason: string | null
  readonly verified: boolean
  readonly status: number
  readonly milliseconds: number
}

export interface InboxOptions {
  /** Days that verified calls are kept; default 400. */
  readonly verifiedDays?: number
  /** Days that unverified calls are kept; default 30. */
  readonly rejectedDays?: number
  /** Unverified calls kept per minute for each network and sender address; default 600. */
  readonly rejectedPerMinute?: number
}

export interface ReceiverOptions {
  readonly store: LedgerStore
  readonly networks: Readonly<Record<string, NetworkConfig>>
  /** Where the receiver is mounted; default `/postback`. */
  readonly basePath?: string
  /** The public origin (and path) that networks call, for signatures over the URL. */
  readonly publicUrl?: string
  /** False, a number of proxies, or their addresses and CIDRs. */
  readonly trustProxy?: boolean | number | readonly string[]
  readonly inbox?: InboxOptions
  readonly commit?: Partial<CommitterOptions>
  readonly observe?: (event: ReceiverEvent) => void
  readonly now?: () => number
  readonly newId?: () => string
}

/** What running kept postbacks again led to. */
export interface ReprocessResult {
  readonly counts: Readonly<Partial<Record<Outcome, number>>>
  /** At most 500. */
  readonly items: readonly (Settled & {
    readonly id: string
    readonly network: string
    readonly transactionId: string | null
  })[]
}

/** A command's own claim on an existing transaction, booked through the same key and the same group commit. */
export interface OperatorClaim {
  readonly network: string
  readonly idSpace: string
  readonly transactionKey: string
  readonly transactionId: string
  readonly entry: PostbackEntry
  readonly user: string
  readonly test: boolean
  readonly actor: string
  readonly reason: string
}

export interface ReceiverStatus extends CommitterStatus {
  readonly inbox: {
    /** Unverified calls that were not kept, because their sender or their network had its share. */
    readonly suppressed: number
    /** Rows given up because too many waited for a database that was away. */
    readonly lost: number
  }
}

export interface Receiver {
  /** Names of the configured networks. */
  readonly networkNames: readonly string[]
  /**
   * Prepares the store and checks the networks against it; `handle` waits for it by itself. Resolves to what the store
   * found and can live with.
   */
  start(): Promise<readonly StoreFinding[]>
  handle(request: ReceiverRequest): Promise<ReceiverResponse>
  /** Runs kept postbacks again under today's configuration; nothing is written where `dryRun` is true. */
  reprocess(filter: PostbackFilter, dryRun: boolean): Promise<ReprocessResult>
  /** Books a command's own claim, for instance the reversal of a test. */
  settle(claim: OperatorClaim): Promise<Settled>
  status(): ReceiverStatus
  /** Lets queued claims finish within their deadlines, writes what the inbox still holds, and stops. The store stays open. */
  close(): Promise<void>
}
