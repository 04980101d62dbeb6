/**
 * What each error of PostgreSQL means where it comes up.
 *
 * @module
 */
import { expect, test } from 'vitest'
import { classifyError, type Phase } from '../../src/stores/postgres/errors.js'

const WRITE: Phase = 'write'

function failureOf(phase: Phase, code: string, fields: Record<string, string> = {}): string {
  const error = Object.assign(new Error('x'), { code, severity: 'ERROR', ...fields })
  return classifyError(error, phase).failure
}

const MEANINGS: readonly (readonly [code: string, phase: Phase, failure: string])[] = [
  ['P0001', WRITE, 'refused'],
  ['P0001', 'commit', 'refused'],
  ['ZZ123', WRITE, 'refused'],
  ['ZZ123', 'commit', 'refused'],
  ['22012', 'commit', 'refused'],
  ['23503', 'commit', 'refused'],
  ['23514', WRITE, 'refused'],
  ['2F005', WRITE, 'refused'],
  ['XX000', WRITE, 'refused'],
  ['XX000', 'commit', 'unknown'],
  ['40001', 'commit', 'retry'],
  ['40003', 'commit', 'unknown'],
  ['40P01', WRITE, 'retry'],
  ['57014', WRITE, 'retry'],
  ['57014', 'commit', 'unknown'],
  ['55P03', 'lock', 'wallet_busy'],
  ['55P03', WRITE, 'key_busy'],
  ['55P03', 'commit', 'retry'],
  ['25006', WRITE, 'away'],
  ['25006', 'commit', 'unknown'],
  ['53100', WRITE, 'away'],
  ['53100', 'commit', 'unknown'],
  ['57P01', WRITE, 'away'],
  ['58030', WRITE, 'away'],
  ['08006', 'commit', 'unknown'],
  ['08006', 'single', 'unknown'],
  ['08006', WRITE, 'retry'],
]

test('a code means what its phase makes of it', () => {
  for (const [code, phase, failure] of MEANINGS) {
    expect(failureOf(phase, code), `${code} at ${phase}`).toBe(failure)
  }
})

test('what our own statement lacks is away for everybody, what a function lacks is refused', () => {
  for (const code of ['42P01', '42703', '42501', '3F000', '26000']) {
    expect(failureOf(WRITE, code), code).toBe('away')
    expect(failureOf(WRITE, code, { where: 'PL/pgSQL function f() line 1' }), code).toBe('refused')
  }
  expect(failureOf(WRITE, '42501', { routine: 'ExecWithCheckOptions' })).toBe('refused')
})

test("a stale plan passes next time; the same code of somebody else's does not", () => {
  expect(failureOf(WRITE, '0A000', { routine: 'RevalidateCachedQuery' })).toBe('retry')
  expect(failureOf(WRITE, '0A000')).toBe('refused')
})
