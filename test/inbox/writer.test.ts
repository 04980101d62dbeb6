/**
 * The writer of inbox rows that belong to no ledger transaction.
 *
 * @module
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { StoreError } from '../../src/errors.js'
import { InboxWriter } from '../../src/inbox/writer.js'
import type { PostbackRow } from '../../src/ledger/postback-row.js'
import { makeClaim, rowOf } from '../../src/testing/claims.js'

function rejected(): PostbackRow {
  const row = rowOf(makeClaim({ transactionId: 't' }), { outcome: 'bad_signature', reason: 'hash_differs' })
  return { ...row, verified: false }
}

describe('the writer of rejected calls', () => {
  let written: (readonly PostbackRow[])[]
  let failures: Error[]
  let writer: InboxWriter

  beforeEach(() => {
    vi.useFakeTimers()
    written = []
    failures = []
    writer = new InboxWriter({
      writePostbacks(rows) {
        const failure = failures.shift()
        if (failure !== undefined) return Promise.reject(failure)
        written.push([...rows])
        return Promise.resolve()
      },
      correctAnswers: () => Promise.resolve(),
    })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const sizes = (): number[] => written.map(({ length }) => length)

  it('writes a row that comes alone at once', async () => {
    writer.keep(rejected())
    await vi.advanceTimersByTimeAsync(1)
    expect(sizes()).toEqual([1])
  })

  it('writes those of a flood some at a time', async () => {
    for (let millisecond = 0; millisecond < 1_000; millisecond += 1) {
      writer.keep(rejected())
      await vi.advanceTimersByTimeAsync(1)
    }
    await vi.advanceTimersByTimeAsync(100)
    expect(sizes().reduce((sum, size) => sum + size)).toBe(1_000)
    expect(written.length).toBeLessThan(25)
  })

  it('does not wait where a whole batch waits', async () => {
    for (let row = 0; row < 1_000; row += 1) writer.keep(rejected())
    await vi.advanceTimersByTimeAsync(60)
    expect(sizes()).toEqual([200, 200, 200, 200, 200])
  })

  it('writes what waits when it is closed', async () => {
    writer.keep(rejected())
    await vi.advanceTimersByTimeAsync(1)
    writer.keep(rejected())
    await writer.close()
    expect(sizes()).toEqual([1, 1])
    expect(writer.lost).toBe(0)
  })

  it('tries again where the database fails, and gives up alone what it refuses', async () => {
    failures.push(new StoreError('away', 'gone'), new StoreError('refused', 'one of them'))
    failures.push(new StoreError('refused', 'this one'))
    writer.keep(rejected())
    writer.keep(rejected())
    await vi.advanceTimersByTimeAsync(600)
    expect(sizes()).toEqual([1])
    expect(writer.lost).toBe(1)
  })

  it('keeps no more than it has room for', () => {
    for (let row = 0; row < 5_001; row += 1) writer.keep(rejected())
    expect(writer.lost).toBe(1)
  })
})
