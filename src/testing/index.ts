/**
 * Published suites and what they are built from: prove a store of your own, or drive the rule in your tests.
 *
 * @module
 */
export { storeSuite } from './store-suite.js'
export { adapterSuite, type AdapterServer, type ServeAdapter } from './adapter-suite.js'
export type { OpenSuiteStore, SuiteRunner, SuiteStore } from './suite-store.js'
export { makeClaim, makeItem, makeMember, nextPostbackId, rowOf } from './claims.js'
export { decide, walletOf, type Decision, type UnknownUserPolicy } from '../ledger/decide.js'
export { planGroup, walletsToLock, type GroupItem, type GroupMember } from '../ledger/group.js'
export { NOTHING_STORED, OPEN_GATE, type Claim, type StoredEntry, type StoredPair } from '../ledger/types.js'
