/**
 * The published suite of the store port: what every store has to do, asked in the same words of each. A new store is
 * done when a ten-line test file passes it.
 *
 * @module
 */
import { accountsSuite } from './store-suite-accounts.js'
import { groupSuite } from './store-suite-group.js'
import { inboxSuite } from './store-suite-inbox.js'
import { listsSuite } from './store-suite-lists.js'
import { repeatsSuite } from './store-suite-repeats.js'
import { ruleSuite } from './store-suite-rule.js'
import { lockSuite } from './store-suite-locks.js'
import type { OpenSuiteStore, SuiteRunner } from './suite-store.js'

/**
 * Registers every test of the suite.
 *
 * @param open makes a fresh database for each test
 * @param locks false for a store without row locks, where nobody can hold a wallet or a key beside it
 * @example
 * ```ts
 * import { describe, it } from 'vitest'
 * import { storeSuite, type OpenSuiteStore } from 'paidonce/testing'
 *
 * declare const open: OpenSuiteStore
 * storeSuite({ describe, it }, 'my store', open)
 * ```
 */
export function storeSuite(
  runner: SuiteRunner,
  name: string,
  open: OpenSuiteStore,
  { locks = true }: { readonly locks?: boolean } = {},
): void {
  runner.describe(`store suite: ${name}`, () => {
    ruleSuite(runner, open)
    groupSuite(runner, open)
    if (locks) lockSuite(runner, open)
    accountsSuite(runner, open)
    inboxSuite(runner, open)
    listsSuite(runner, open)
    repeatsSuite(runner, open)
  })
}
