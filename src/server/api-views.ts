/**
 * How rows look in the admin API: amounts as text with the full scale, times by RFC 3339 in UTC, secrets hidden.
 *
 * @module
 */
import { redactBody, redactHeaders, redactUrl } from '../inbox/redact.js'
import { explainReason } from '../inbox/explain.js'
import type { Postback, WalletRow } from '../ledger/store.js'
import type { LedgerEntry } from '../ledger/types.js'
import { formatMinor } from '../money.js'
import { takeApart } from '../postback/fields.js'
import { signedText } from '../postback/signature.js'
import type { AdminContext, AdminNetwork } from './admin-context.js'

const NO_REDACTION = Object.freeze({})

export function walletView({ user, balance }: WalletRow, scale: number): object {
  const text = formatMinor(balance, scale)
  return { user, balance: text, available: text }
}

export function entryView(entry: LedgerEntry, scale: number): object {
  return {
    id: entry.id,
    network: entry.network,
    transactionId: entry.transactionId,
    entry: entry.entry,
    user: entry.user,
    amount: formatMinor(entry.amount, scale),
    balanceAfter: entry.balanceAfter === null ? null : formatMinor(entry.balanceAfter, scale),
    createdAt: entry.createdAt.toISOString(),
    decision: entry.decision,
    reason: entry.reason,
    test: entry.test,
    imported: entry.imported,
    cleared: entry.cleared,
    postbackId: entry.postbackId,
    eventId: entry.eventId,
    offer: entry.offer,
    payout: entry.payout,
    receivedAmount: entry.receivedAmount,
    unit: entry.unit,
    rate: entry.rate,
    actor: entry.actor,
  }
}

export function postbackView(
  row: Postback,
  { store, networks }: Pick<AdminContext, 'store' | 'networks'>,
): object {
  const redact = networks.get(row.network)?.redact ?? NO_REDACTION
  return {
    id: row.id,
    network: row.network,
    receivedAt: row.receivedAt.toISOString(),
    method: row.method,
    // One character a byte: what is not ASCII could not have arrived over HTTP, and must not fail a list.
    url: redactUrl(row.url.toString('latin1'), redact),
    ip: row.ip,
    outcome: row.outcome,
    reason: row.reason,
    verified: row.verified,
    test: row.test,
    transactionId: row.transactionId,
    entry: row.entry,
    user: row.user,
    amount: row.amount === null ? null : formatMinor(row.amount, store.amountScale),
    answer: row.answer,
    milliseconds: row.milliseconds,
    open: row.open,
    resolvedReason: row.resolvedReason,
  }
}

/** One postback with everything that explains it. */
export function postbackDetail(row: Postback, context: Pick<AdminContext, 'store' | 'networks'>): object {
  const configured = context.networks.get(row.network)
  const redact = configured?.redact ?? NO_REDACTION
  const code = row.reason?.split(':', 1)[0] ?? null
  return {
    ...postbackView(row, context),
    headers: redactHeaders(row.headers, redact),
    body: redactBody(row.body.toString('utf8'), redact),
    signed: configured === undefined ? null : signedBy(row, configured),
    failedCheck: row.verified ? null : code,
    advice: row.reason === null ? null : explainReason(row.reason),
  }
}

/** What the network's signature covers in this call, the secret's place marked; null where it signs no message. */
function signedBy(row: Postback, { network, redact }: AdminNetwork): string | null {
  const request = {
    method: row.method,
    url: row.url.toString('latin1'),
    headers: JSON.parse(row.headers) as Record<string, string>,
    body: row.body,
    remoteAddress: row.ip,
  }
  const call = takeApart(request, network.fields)
  const text = signedText(network.profile.signature, call, network.fields, network.publicUrl)
  if (text === null) return null
  // Some networks sign the whole URL or body, and what is secret in it stays so.
  return /^[^?&=]*\?/.test(text) ? redactUrl(text, redact) : redactBody(text, redact)
}
