/**
 * What each MySQL error means at each step.
 *
 * @module
 */
import { expect, test } from 'vitest'
import {
  classifyFailure,
  connectionFailure,
  isDuplicateOf,
  type Step,
} from '../../src/stores/mysql/errors.js'

function driverError(errno: number, message = 'x', code = 'ER'): Error {
  return Object.assign(new Error(message), { errno, code, sql: "insert into t values ('secret')" })
}

const MEANINGS: readonly (readonly [errno: number, step: Step, failure: string])[] = [
  [1205, 'wallets', 'wallet_busy'],
  [1205, 'ledger', 'key_busy'],
  [1205, 'write', 'retry'],
  [1213, 'ledger', 'retry'],
  [1213, 'commit', 'retry'],
  [1020, 'wallets', 'retry'],
  [1047, 'read', 'retry'],
  [1180, 'commit', 'unknown'],
  [1047, 'commit', 'unknown'],
  [1053, 'commit', 'unknown'],
  [1053, 'write', 'retry'],
  [2013, 'single', 'unknown'],
  [1062, 'ledger', 'refused'],
  [1264, 'write', 'refused'],
  [1366, 'ledger', 'refused'],
  [1406, 'ledger', 'refused'],
  [4025, 'write', 'refused'],
  [3819, 'write', 'refused'],
  [31_001, 'write', 'refused'],
  [31_001, 'commit', 'unknown'],
  [1242, 'write', 'refused'],
  [1365, 'wallets', 'refused'],
  [-111, 'ledger', 'retry'],
  [0, 'ledger', 'retry'],
  [3101, 'write', 'retry'],
  [1449, 'write', 'away'],
  [1290, 'write', 'away'],
  [1836, 'ledger', 'away'],
  [1040, 'read', 'away'],
  [1114, 'ledger', 'away'],
  [1146, 'read', 'away'],
]

test('an error number means what its step makes of it', () => {
  for (const [errno, step, failure] of MEANINGS) {
    expect(classifyFailure(driverError(errno), step).failure, `${errno} at ${step}`).toBe(failure)
  }
  expect(classifyFailure(driverError(0, 'x', 'PROTOCOL_CONNECTION_LOST'), 'commit').failure).toBe('unknown')
  expect(classifyFailure(driverError(0, 'x', 'ECONNRESET'), 'ledger').failure).toBe('retry')
  expect(connectionFailure(driverError(1045)).failure).toBe('away')
})

test("only our own key's duplicate counts as a race, on MySQL's wording and on MariaDB's", () => {
  const duplicate = (message: string): boolean =>
    isDuplicateOf(classifyFailure(driverError(1062, message), 'ledger'), 'paidonce_ledger_key')
  expect(duplicate("Duplicate entry 'n-t-credit' for key 'paidonce_ledger_key'")).toBe(true)
  expect(duplicate("Duplicate entry 'n-t-credit' for key 'paidonce_ledger.paidonce_ledger_key'")).toBe(true)
  expect(duplicate("Duplicate entry '7' for key 'PRIMARY'")).toBe(false)
  expect(duplicate("Duplicate entry '7' for key 'app_audit.other_paidonce_ledger_key_2'")).toBe(false)
})

test('no failure carries the statement, which holds raw calls and their signatures', () => {
  const failure = classifyFailure(driverError(1406, 'Data too long'), 'ledger')
  expect(failure.message).toContain('Data too long')
  expect((failure.cause as { sql?: string }).sql).toBeUndefined()
  expect(JSON.stringify(failure.cause)).not.toContain('secret')
})
