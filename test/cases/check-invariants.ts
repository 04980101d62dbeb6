/**
 * What must hold after every case: balances are the sums of entries, no id is paid or taken back twice, every call left
 * a trace with its reason, nothing that can never be accepted asks to be sent again, and each movement is announced once.
 *
 * @module
 */
import { expect, vi } from 'vitest'
import { checkLedger, type RawEntry, type Sent } from '../oracle/check-ledger.js'
import type { Bench } from './bench.js'
import type { Row } from './rows.js'

/** Minor units as whole numbers, as the raw ledger has them. */
const MINOR: Readonly<Record<string, string>> = {
  sqlite: 'amount',
  postgres: '(amount * 1000)::bigint',
  mysql: 'cast(amount * 1000 as decimal(22))',
}
const ID: Readonly<Record<string, string>> = { mysql: 'lower(hex(id))' }

export async function checkInvariants(bench: Bench): Promise<void> {
  const inbox = await readInbox(bench)
  expect(inbox.filter(lacksReason), 'rows without a reason').toEqual([])
  expect(inbox.filter(asksInVain), 'rows that ask to be sent again').toEqual([])
  const ledger = await bench.database.raw()
  const faults = checkLedger(ledger, inbox.map(sentOf))
  // Adjustments come from the admin API, not from a call.
  expect(faults.filter((fault) => !fault.endsWith('adjustment was never sent'))).toEqual([])
  const told = await bench.query('select id_space, transaction_key, entry from paidonce_outbox')
  const messages = told.map(
    (row) => `${row['id_space'] ?? ''} ${row['transaction_key'] ?? ''} ${row['entry'] ?? ''}`,
  )
  expect(messages.sort()).toEqual(ledger.entries.filter(moves).map(nameOf).sort())
}

/** Every call that was taken is there; those that no transaction wrote may come a moment later. */
async function readInbox(bench: Bench): Promise<Row[]> {
  const select = `select ${ID[bench.name] ?? 'id'} as id, outcome, reason, id_space, transaction_key, entry, user_id,
    ${MINOR[bench.name] ?? ''} as minor, answer_status from paidonce_postbacks`
  await vi.waitFor(
    async () => {
      const [row] = await bench.query('select count(*) as n from paidonce_postbacks')
      expect(Number(row?.['n']), 'inbox rows').toBe(bench.taken)
    },
    { timeout: 5_000, interval: 25 },
  )
  return bench.query(select)
}

const NEEDS_REASON = ['malformed', 'bad_signature', 'held', 'conflict', 'unknown_user', 'ignored', 'test']

function lacksReason(row: Row): boolean {
  return row['reason'] === null && NEEDS_REASON.includes(row['outcome'] ?? '')
}

function asksInVain(row: Row): boolean {
  const passes = ['unknown_user', 'failed', 'overloaded'].includes(row['outcome'] ?? '')
  // A call that was run again keeps the answer that left at the time.
  const settledLater = row['outcome'] === 'credited' || row['outcome'] === 'duplicate'
  return Number(row['answer_status']) >= 500 && !passes && !settledLater
}

function sentOf(row: Row): Sent {
  const id = row['id'] ?? ''
  return {
    postbackId: id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
    idSpace: row['id_space'] ?? '',
    key: row['transaction_key'] ?? '',
    entry: row['entry'] === 'reversal' ? 'reversal' : 'credit',
    user: row['user_id'] ?? '',
    amount: BigInt(row['minor'] ?? '0'),
    outcome: row['outcome'] ?? null,
  }
}

function moves({ amount }: RawEntry): boolean {
  return amount !== 0n
}

function nameOf({ idSpace, key, entry }: RawEntry): string {
  return `${idSpace} ${key} ${entry}`
}
