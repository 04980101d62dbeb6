/**
 * Paidonce: every reward paid once, every reversal taken back once, and the operator can see why.
 *
 * @module
 */
export { createReceiver } from './receiver/create-receiver.js'
export type {
  InboxOptions,
  OperatorClaim,
  Receiver,
  ReceiverEvent,
  ReceiverOptions,
  ReceiverRequest,
  ReceiverResponse,
  ReceiverStatus,
  ReprocessResult,
} from './receiver/types.js'
export type { CommitterStatus } from './commit/committer.js'
export type { CommitCounters } from './commit/counters.js'
export { PaidonceError, StoreError, type ErrorCode, type StoreFailure } from './errors.js'
export { formatMinor, parseMinor, type Rounding } from './money.js'
export { OUTCOMES, type Answer, type Outcome, type Settled } from './outcome.js'
export type {
  Adjustment,
  AdjustmentResult,
  LedgerStore,
  Page,
  PageOf,
  Postback,
  PostbackFilter,
  StoreFinding,
  StoreOptions,
  WalletRow,
  WalletTable,
} from './ledger/store.js'
export type { EntryDecision, EntryKind, LedgerEntry } from './ledger/types.js'
export type { NetworkConfig } from './postback/network.js'
export type { NetworkProfile } from './postback/profile.js'
export { profileNames } from './catalogue/index.js'
export { defineConfig, type PaidonceConfig } from './server/settings.js'
