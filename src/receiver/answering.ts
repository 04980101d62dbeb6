/**
 * How an answer leaves: its text by the network's own rule, its headers, and how long it may take.
 *
 * @module
 */
import type { Answer, Settled } from '../outcome.js'
import { answerFor } from '../postback/answers.js'
import type { Network } from '../postback/network.js'
import type { Reading } from '../postback/read.js'

/** A claim is answered within this time whatever its network allows. */
export const MAX_ANSWER_MS = 4_000
/** Of a network's own time budget this share is used, the rest is the way there and back. */
const BUDGET_SHARE = 0.8
const RETRY_AFTER_SECONDS = '5'

const HEADERS = Object.freeze({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })

/** How long after its arrival a call has to be answered. */
export function answerBudgetMs(network: Network): number {
  return Math.min(MAX_ANSWER_MS, network.timeBudgetMs * BUDGET_SHARE)
}

/** @param reading null where the call was not read, because nothing could be done for it */
export function answerOf(network: Network, settled: Settled, reading: Reading | null): Answer {
  const context = {
    verified: reading?.verified ?? true,
    entry: reading?.entry ?? null,
    transactionId: reading?.transactionId ?? null,
    user: reading?.user ?? null,
    eventId: reading?.eventId ?? null,
  }
  return answerFor(settled, context, network.answers)
}

/** @param closing a kept-alive connection is then told to come back on a new one */
export function headersOf(
  status: number,
  closing: boolean,
  allow: string | null = null,
): Readonly<Record<string, string>> {
  // Nearly every answer; nobody changes it.
  if (status !== 503 && !closing && allow === null) return HEADERS
  return {
    ...HEADERS,
    ...(status === 503 ? { 'retry-after': RETRY_AFTER_SECONDS } : {}),
    ...(allow === null ? {} : { allow }),
    ...(closing ? { connection: 'close' } : {}),
  }
}
