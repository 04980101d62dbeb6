/**
 * Makes claims and group members for suites, each with an inbox row as the receiver would keep it.
 *
 * @module
 */
import type { GroupItem, GroupMember } from '../ledger/group.js'
import { isOpenOutcome, type PostbackRow } from '../ledger/postback-row.js'
import { OPEN_GATE, type Claim } from '../ledger/types.js'
import type { Settled } from '../outcome.js'

let sequence = 0

/** When the calls of a suite arrived. */
const RECEIVED_AT = new Date('2026-01-02T03:04:05.678Z')

/** A new id in the form of a UUIDv7; larger is later. It starts with a time, as a receiver's does. */
export function nextPostbackId(at: Date = RECEIVED_AT): string {
  sequence += 1
  const time = at.getTime().toString(16).padStart(12, '0')
  const order = sequence.toString(16).padStart(6, '0')
  const random = Math.floor(Math.random() * 2 ** 36)
    .toString(16)
    .padStart(9, '0')
  const digits = `7${order.slice(0, 3)}-8${order.slice(3)}`
  return `${time.slice(0, 8)}-${time.slice(8)}-${digits}-000${random}`
}

/** A claim of network `n` with what a test cares about; `transactionId` also serves as the key. */
export function makeClaim(part: Partial<Claim> & Pick<Claim, 'transactionId'>): Claim {
  return {
    postbackId: nextPostbackId(),
    network: 'n',
    idSpace: 'n',
    transactionKey: part.transactionId,
    entry: 'credit',
    user: 'u1',
    amount: 1_000n,
    receivedAmount: '1',
    unit: 'coins',
    rate: null,
    test: false,
    recordOnly: false,
    gate: OPEN_GATE,
    eventId: null,
    offer: null,
    payout: null,
    actor: null,
    reason: null,
    ...part,
  }
}

/** The inbox row that belongs to a claim, for the outcome that it had. */
export function rowOf(claim: Claim, settled: Settled): PostbackRow {
  return {
    id: claim.postbackId,
    network: claim.network,
    receivedAt: RECEIVED_AT,
    method: 'GET',
    url: Buffer.from(`/postback/${claim.network}?tx=%00%FF`),
    headers: '{"user-agent":"suite"}',
    body: Buffer.from([0, 255, 10]),
    ip: '203.0.113.7',
    outcome: settled.outcome,
    reason: settled.reason,
    verified: true,
    test: claim.test,
    transactionId: claim.transactionId,
    idSpace: claim.idSpace,
    transactionKey: claim.transactionKey,
    entry: claim.entry,
    user: claim.user,
    amount: claim.amount,
    answer: { status: 200, body: 'OK' },
    milliseconds: 7,
    open: isOpenOutcome(settled.outcome, true),
  }
}

/** A group item of a claim with its inbox row. */
export function makeItem(claim: Claim): GroupItem {
  return { id: claim.postbackId, claim, fixed: null, row: (settled) => rowOf(claim, settled) }
}

/** A group member: a leading claim and the copies that wait for it. */
export function makeMember(leader: Claim, copies: readonly Claim[] = []): GroupMember {
  return { leader: makeItem(leader), copies: copies.map(makeItem) }
}
