import { describe, expect, it } from 'vitest'
import { PaidonceError, StoreError } from '../../src/errors.js'
import { failureOf } from '../../src/cli/failure.js'
import { cli, makeFolder } from './cli-run.js'

const caused = (fields: object): Error => Object.assign(new Error('driver'), fields)
const away = (cause: unknown): StoreError =>
  new StoreError('away', 'The database cannot be reached: driver', cause)

describe('a database that cannot be had', () => {
  it('is named by what stands in the way, through the chain of causes', () => {
    const kinds: (readonly [string, object])[] = [
      ['password', { code: '28P01', severity: 'FATAL' }],
      ['password', { errno: 1045, code: 'ER_ACCESS_DENIED_ERROR' }],
      ['not let in', { code: '28000', severity: 'FATAL' }],
      ['does not exist', { code: '3D000', severity: 'FATAL' }],
      ['does not exist', { errno: 1049, code: 'ER_BAD_DB_ERROR' }],
      ['right', { code: '42501', severity: 'ERROR' }],
      ['right', { errno: 1044, code: 'ER_DBACCESS_DENIED_ERROR' }],
      ['right', { errno: 1142, code: 'ER_TABLEACCESS_DENIED_ERROR' }],
      ['host', { errno: -3008, code: 'ENOTFOUND' }],
      ['refused', { errno: -111, code: 'ECONNREFUSED' }],
      ['answer', { errno: -110, code: 'ETIMEDOUT' }],
    ]
    for (const [word, fields] of kinds) {
      for (const error of [
        away(caused(fields)),
        away(new AggregateError([caused(fields)])),
        new PaidonceError('database_refused', 'It failed.', { cause: away(caused(fields)) }),
      ]) {
        const { message, hint, exitCode } = failureOf(error)
        expect(exitCode).toBe(1)
        expect([fields, message]).toEqual([fields, expect.stringContaining(word)])
        expect(hint).toContain('PAIDONCE_DATABASE_URL')
        expect(hint).toContain('DATABASE_URL')
      }
    }
  })

  it('says where the address may come from whatever the failure', () => {
    expect(failureOf(away(new Error('x'))).hint).toContain('PAIDONCE_DATABASE_URL')
  })

  it('does not show the password', async () => {
    const folder = makeFolder()
    for (const scheme of ['postgres', 'mysql']) {
      const env = { DATABASE_URL: `${scheme}://app:hidden@127.0.0.1:1/app` }
      const { code, stderr } = await cli(folder.path, ['audit'], env)
      expect(code).toBe(1)
      expect(stderr).toContain('refused')
      expect(stderr).toContain('DATABASE_URL')
      expect(stderr).not.toContain('hidden')
      const doctor = await cli(folder.path, ['doctor'], env)
      expect(doctor.stdout).toContain('refused')
      expect(doctor.stdout + doctor.stderr).not.toContain('hidden')
    }
    folder.remove()
  })
})
