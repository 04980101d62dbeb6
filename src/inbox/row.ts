/**
 * Lays out the inbox row of one call.
 *
 * @module
 */
import { isOpenOutcome, type PostbackRow } from '../ledger/postback-row.js'
import type { Answer, Settled } from '../outcome.js'
import type { RawRequest } from '../postback/raw-request.js'
import type { Reading } from '../postback/read.js'

/** What is known of a call before its outcome is. */
export interface Arrival {
  readonly id: string
  readonly network: string
  readonly idSpace: string
  readonly receivedAt: Date
  readonly request: RawRequest
  readonly reading: Reading
}

/** Of a call that nobody vouches for, this much of its body is kept, so that forged traffic cannot fill the disk. */
const UNVERIFIED_BODY_BYTES = 4_096

export function makeRow(
  arrival: Arrival,
  settled: Settled,
  answer: Answer,
  milliseconds: number,
): PostbackRow {
  const { reading, request } = arrival
  return {
    id: arrival.id,
    network: arrival.network,
    receivedAt: arrival.receivedAt,
    method: request.method,
    url: Buffer.from(request.url, 'latin1'),
    headers: JSON.stringify(reading.headers),
    body: reading.verified ? request.body : request.body.subarray(0, UNVERIFIED_BODY_BYTES),
    ip: request.remoteAddress,
    outcome: settled.outcome,
    reason: settled.reason,
    verified: reading.verified,
    test: reading.test,
    transactionId: reading.transactionId,
    idSpace: reading.transactionKey === null ? null : arrival.idSpace,
    transactionKey: reading.transactionKey,
    entry: reading.entry,
    user: reading.user,
    amount: reading.amount,
    answer,
    milliseconds,
    open: isOpenOutcome(settled.outcome, reading.verified),
  }
}

/** The call as it arrived, from its row; what is run again is exactly what was kept. */
export function requestOf(row: PostbackRow): RawRequest {
  return {
    method: row.method,
    url: row.url.toString('latin1'),
    headers: JSON.parse(row.headers) as RawRequest['headers'],
    body: row.body,
    remoteAddress: row.ip,
  }
}
