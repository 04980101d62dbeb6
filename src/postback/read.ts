/**
 * Reads one postback: verifies it, classifies it, and says what it asks to be booked. Pure: the same call
 * and the same network always give the same reading.
 *
 * @module
 */
import type { Outcome, PostbackEntry, Settled } from '../outcome.js'
import { isListed } from './addresses.js'
import { readAmount, signFits, type ReadAmount } from './amount.js'
import type { PostbackClaim } from './claim.js'
import { conditionText, holds } from './conditions.js'
import { takeApart, valueOf, type Call } from './fields.js'
import { presentable, presentableText } from './free-text.js'
import { hintFor } from './hints.js'
import { gleanId, readId, readIds, readOptionalId } from './identity.js'
import type { Network } from './network.js'
import type { EntryWord } from './profile.js'
import type { RawRequest } from './raw-request.js'

export interface ReadOptions {
  /** Decimals of a coin. */
  readonly amountScale: number
  readonly postbackId: string
}

/** What one call turned out to be. Exactly one of `claim` and `outcome` is null. */
export interface Reading {
  readonly verified: boolean
  readonly claim: PostbackClaim | null
  readonly outcome: Settled | null
  /** What the reader of a refused call can do about it. */
  readonly hint: string | null
  /** Facts for the inbox: null where the call held none that the grammars accept. */
  readonly transactionId: string | null
  /** Null unless the call is verified: nobody else may point at a stored transaction. */
  readonly transactionKey: string | null
  readonly entry: PostbackEntry | null
  readonly user: string | null
  /** Minor units. */
  readonly amount: bigint | null
  readonly eventId: string | null
  readonly test: boolean
  /** The headers that a later check of the kept call needs. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
}

/**
 * Reads one postback. Whatever a caller sends is a reading, never an exception.
 *
 * The order is the promise: nothing but the signature and the sender's address is judged before the call is
 * verified, so that a caller without the secret learns only that.
 */
export function readPostback(request: RawRequest, network: Network, options: ReadOptions): Reading {
  const call = takeApart(request, network.fields)
  const refusal = refuseUnverified(call, network)
  if (refusal !== null) return refused(call, network, options, refusal, false)
  const judged = judge(call, network, options)
  if ('outcome' in judged) return refused(call, network, options, judged, true)
  return {
    verified: true,
    claim: judged,
    outcome: null,
    hint: null,
    transactionId: judged.transactionId,
    transactionKey: judged.transactionKey,
    entry: judged.entry,
    user: judged.user === '' ? null : judged.user,
    amount: judged.amount,
    eventId: judged.eventId,
    test: judged.test,
    headers: keptHeaders(request, network),
  }
}

function refuseUnverified(call: Call, network: Network): Settled | null {
  // An absolute target would let the caller choose what a URL signature covers.
  if (!call.request.url.startsWith('/')) return malformed('absolute_request_target')
  const fault = network.verify(call)
  if (fault !== null) return fault
  const { remoteAddress } = call.request
  if (network.allowedIps === null || isListed(network.allowedIps, remoteAddress)) return null
  return settled('ip_not_allowed', `ip_not_allowed: ${presentableText(remoteAddress, 50)}`)
}

/** What a verified call asks for, or why it asks for nothing that can be booked. */
function judge(call: Call, network: Network, options: ReadOptions): PostbackClaim | Settled {
  const unusable = unusableReason(call, network)
  if (unusable !== null) return malformed(unusable)
  const word = classify(call, network)
  if (typeof word === 'object') return word
  const amount = amountOf(call, network, options)
  const entry = word === 'by-sign' ? signedEntry(amount) : word
  const ids = readIds(call, network, entry)
  if ('fault' in ids) return malformed(ids.fault)
  const user = userOf(call, network, entry)
  if ('fault' in user) return malformed(user.fault)
  const event = readOptionalId(call, network, 'eventId')
  if ('fault' in event) return malformed(event.fault)
  if (amount !== null && 'fault' in amount) return malformed(amount.fault)
  if (amount === null && !(entry === 'reversal' && isOptional(network, 'amount'))) {
    return malformed(missing(network, 'amount'))
  }
  if (amount !== null && amount.minor === 0n) return settled('ignored', 'zero_amount')
  // Where no amount has a sign, one with a sign is no amount; only where signs mean something can they contradict.
  if (amount?.negative === true && network.profile.amountSign === 'positive') {
    return malformed('amount_negative')
  }
  if (amount !== null && !signFits(amount.negative, entry, network.profile.amountSign)) {
    return settled('held', 'amount_sign')
  }
  const test = isTest(call, network)
  return {
    postbackId: options.postbackId,
    network: network.name,
    transactionKey: ids.transactionKey,
    transactionId: ids.transactionId,
    entry,
    user: user.id ?? '',
    amount: amount?.minor ?? null,
    receivedAmount: amount?.receivedAmount ?? null,
    unit: network.amounts.unit,
    rate: network.rate,
    test,
    recordOnly: test && network.tests === 'record',
    eventId: event.id,
    offer: freeText(call, network, 'offer'),
    payout: freeText(call, network, 'payout'),
    actor: null,
    reason: null,
  }
}

const FREE_TEXT_ROLES: ReadonlySet<string> = new Set(['offer', 'payout'])

/** Why the call cannot be read as the profile says. */
function unusableReason(call: Call, { fields }: Network): string | null {
  const repeated = call.repeated[0]
  if (repeated !== undefined) return `repeated_parameter: ${fields.fields[repeated]?.name ?? ''}`
  if (call.unreadable) return 'json_unreadable'
  for (const { slot, spec, role, name } of fields.fields) {
    const isFree = FREE_TEXT_ROLES.has(role)
    if (!isFree && call.structured.includes(slot)) return `not_a_value: ${name}`
    const mayBeAbsent = isFree || spec.optional === true || spec.default !== undefined
    if (!mayBeAbsent && call.values[slot] === null) return `missing_parameter: ${name}`
  }
  return null
}

/** The first entry rule that matches. */
function classify(call: Call, { profile, fields }: Network): 'credit' | 'reversal' | 'by-sign' | Settled {
  const word: EntryWord | undefined = profile.entry.find(({ when }) => holds(when, call, fields))?.is
  if (word === 'credit' || word === 'reversal' || word === 'by-sign') return word
  const status = presentableText(conditionText(call, fields, 'status') ?? '', 100)
  if (word !== undefined) return settled(word, `status_${word}: ${status}`)
  return settled(profile.otherwise, `status_unknown: ${status}`)
}

function amountOf(
  call: Call,
  network: Network,
  { amountScale }: ReadOptions,
): ReadAmount | { readonly fault: string } | null {
  const value = valueOf(call, network.fields, 'amount')
  if (value === null || (value.raw === '' && isOptional(network, 'amount'))) return null
  const amount = readAmount(value.text ?? '', network.amounts, amountScale)
  return typeof amount === 'string' ? { fault: amount } : amount
}

function signedEntry(amount: ReadAmount | { readonly fault: string } | null): PostbackEntry {
  return amount !== null && 'negative' in amount && amount.negative ? 'reversal' : 'credit'
}

function userOf(
  call: Call,
  network: Network,
  entry: PostbackEntry,
): { readonly id: string | null } | { readonly fault: string } {
  if (entry === 'reversal' && isOptional(network, 'user')) return readOptionalId(call, network, 'user')
  return readId(call, network, 'user')
}

function isTest(call: Call, { profile, fields }: Network): boolean {
  return profile.test !== null && holds(profile.test.when, call, fields)
}

function isOptional({ profile }: Network, role: string): boolean {
  return profile.fields[role]?.optional === true
}

function missing({ fields }: Network, role: string): string {
  return `missing_parameter: ${fields.byRole.get(role)?.name ?? role}`
}

function freeText(call: Call, { fields }: Network, role: string): string | null {
  const value = valueOf(call, fields, role)
  return value === null || value.raw === '' ? null : presentable(value)
}

/** A call that asks for no booking, with what can be told of it. */
function refused(
  call: Call,
  network: Network,
  options: ReadOptions,
  outcome: Settled,
  verified: boolean,
): Reading {
  const word = network.profile.entry.find(({ when }) => holds(when, call, network.fields))?.is
  const amount = amountOf(call, network, options)
  const entry =
    word === 'credit' || word === 'reversal' ? word : word === 'by-sign' ? signedEntry(amount) : null
  const ids = readIds(call, network, entry ?? 'credit')
  const found = 'fault' in ids ? null : ids
  return {
    verified,
    claim: null,
    outcome,
    hint: hintFor(outcome.reason),
    transactionId: found === null ? gleanId(call, network, 'transactionId') : found.transactionId,
    transactionKey: verified && found !== null ? found.transactionKey : null,
    entry,
    user: gleanId(call, network, 'user'),
    amount: amount !== null && 'minor' in amount ? amount.minor : null,
    eventId: gleanId(call, network, 'eventId'),
    test: isTest(call, network),
    headers: keptHeaders(call.request, network),
  }
}

function keptHeaders(request: RawRequest, network: Network): Record<string, string | readonly string[]> {
  const kept: Record<string, string | readonly string[]> = {}
  for (const name of network.keptHeaders) {
    const value = request.headers[name]
    if (value !== undefined) kept[name] = value
  }
  return kept
}

function malformed(reason: string): Settled {
  return settled('malformed', reason)
}

function settled(outcome: Outcome, reason: string): Settled {
  return { outcome, reason }
}
