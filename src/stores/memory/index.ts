/**
 * The reference store: everything in memory, nothing durable. It is the oracle of the published suites and serves
 * tests of an app that uses Paidonce; it never belongs in production.
 *
 * @module
 */
export { memoryStore, type MemoryStore, type MemoryStoreOptions } from './store.js'
export { MEMORY_STEPS, type MemoryStep } from './apply-group.js'
