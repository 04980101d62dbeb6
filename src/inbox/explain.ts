/**
 * Says in one or two sentences why a transaction was or was not paid, from what is stored and nothing else.
 *
 * @module
 */
import type { Postback } from '../ledger/store.js'
import type { LedgerEntry } from '../ledger/types.js'
import { formatMinor } from '../money.js'
import { adviceFor, explainReason } from './explain-reason.js'

export { explainReason } from './explain-reason.js'

/** Everything that is known about one transaction. */
export interface TransactionFacts {
  readonly network: string
  readonly transactionId: string
  readonly entries: readonly LedgerEntry[]
  /** The calls that named it, in any order. */
  readonly postbacks: readonly Postback[]
  /** Decimals of a coin. */
  readonly amountScale: number
}

/**
 * Tells why a transaction was or was not paid.
 *
 * It only repeats what the ledger and the inbox hold; where they hold nothing it names what to check.
 *
 * @example
 * ```ts
 * explainTransaction({ network: 'demo', transactionId: 't1', entries: [], postbacks: [], amountScale: 3 })
 * ```
 */
export function explainTransaction(facts: TransactionFacts): string {
  const groups = groupByKey(facts.entries)
  if (groups.length === 0) return explainCalls(facts)
  if (groups.length === 1) return explainEntries(facts, groups[0] ?? [], facts.postbacks)
  return groups
    .map((entries, index) => {
      const key = entries[0]?.transactionKey
      const calls = facts.postbacks.filter((call) => call.transactionKey === key)
      return `Reward ${index + 1} of ${groups.length}: ${explainEntries(facts, entries, calls)}`
    })
    .join(' ')
}

function groupByKey(entries: readonly LedgerEntry[]): LedgerEntry[][] {
  const groups = new Map<string, LedgerEntry[]>()
  for (const entry of entries) {
    const key = `${entry.idSpace}\u0000${entry.transactionKey}`
    groups.set(key, [...(groups.get(key) ?? []), entry])
  }
  return [...groups.values()]
}

function explainEntries(
  { amountScale }: TransactionFacts,
  entries: readonly LedgerEntry[],
  calls: readonly Postback[],
): string {
  const credit = entries.find((entry) => entry.entry === 'credit')
  const reversal = entries.find((entry) => entry.entry === 'reversal')
  if (credit === undefined) {
    return reversal === undefined
      ? 'The ledger holds entries for it, but neither a credit nor a reversal.'
      : `A reversal stands without its credit since ${time(reversal)}: run "paidonce audit", which reports it as an error.`
  }
  return [
    creditSentence(credit, reversal, amountScale),
    ...conflictSentence(credit, calls, amountScale),
    ...copiesSentence(calls),
  ].join(' ')
}

function creditSentence(credit: LedgerEntry, reversal: LedgerEntry | undefined, scale: number): string {
  const amount = formatMinor(credit.amount, scale)
  const who = `user ${quoted(credit.user)}`
  if (credit.decision === 'tombstone') {
    return `Not paid: its reversal arrived on ${time(credit)}, before any credit, so both are recorded with amount 0 and a credit that comes later is not paid.`
  }
  if (credit.decision === 'refused') {
    return `Not paid: the credit of ${who} was declined for good on ${time(credit)}${because(credit.reason)}.`
  }
  const paid = credit.imported
    ? `${amount} to ${who} was taken over on ${time(credit)} from the earlier table, where it had been paid before`
    : `${amount} was credited to ${who} on ${time(credit)}${balance(credit, scale)}`
  const test = credit.test ? ' as a test' : ''
  if (reversal === undefined) return `Paid${test}: ${paid}.`
  if (reversal.decision === 'orphan') {
    return `Paid${test}, and its reversal could not be taken back: ${paid}; the reversal of ${time(reversal)} is recorded, but the wallet was gone and no balance moved.`
  }
  return `Paid${test} and taken back: ${paid}, and ${formatMinor(reversal.amount, scale)} was booked as its reversal on ${time(reversal)}${balance(reversal, scale)}${because(reversal.reason)}.`
}

function conflictSentence(credit: LedgerEntry, calls: readonly Postback[], scale: number): string[] {
  const conflicts = calls.filter((call) => call.outcome === 'conflict')
  const newest = newestOf(conflicts)
  if (newest === null) return []
  const asked = newest.amount === null ? 'an amount that was not read' : formatMinor(newest.amount, scale)
  const others =
    conflicts.length === 1
      ? ''
      : ` (the newest of ${conflicts.length} calls that contradict the stored credit)`
  return [
    `Another call on ${newest.receivedAt.toISOString()}${others} asked for ${asked} for user ${quoted(newest.user ?? '')} where ${formatMinor(credit.amount, scale)} for user ${quoted(credit.user)} is stored: nothing was booked for it${because(newest.reason)}.`,
  ]
}

function copiesSentence(calls: readonly Postback[]): string[] {
  const copies = calls.filter(
    ({ outcome }) => outcome === 'duplicate' || outcome === 'already_reversed',
  ).length
  const late = calls.filter(({ outcome, entry }) => outcome === 'tombstoned' && entry === 'credit').length
  const sentences: string[] = []
  if (copies === 1) sentences.push('1 further copy arrived and changed nothing.')
  if (copies > 1) sentences.push(`${copies} further copies arrived and changed nothing.`)
  if (late > 0) sentences.push(`Its credit arrived afterwards (${callCount(late)}) and was not paid.`)
  return sentences
}

/** No ledger entry stands: the calls say why. A verified call says more than one that anybody could have sent. */
function explainCalls({ network, transactionId, postbacks, amountScale }: TransactionFacts): string {
  const newest = newestOf(postbacks.filter((call) => call.verified)) ?? newestOf(postbacks)
  if (newest === null) {
    return `Not paid: no call with transaction id ${quoted(transactionId)} ever reached this receiver for network ${quoted(network)}. Check the postback URL that is set at the network (and the id's exact spelling), whether the network's own report shows a failed delivery, and the proxy's log.`
  }
  const more = postbacks.length > 1 ? ` (the newest that counts of ${callCount(postbacks.length)})` : ''
  const advice = newest.reason === null ? adviceFor(newest.outcome) : explainReason(newest.reason)
  const sentence = `Not paid: ${callSentence(newest, amountScale)}${more}.`
  return advice === null ? sentence : `${sentence} ${advice}`
}

function callSentence(call: Postback, scale: number): string {
  const what = call.entry === 'reversal' ? 'the reversal' : 'the call'
  const amount = call.amount === null ? '' : ` of ${formatMinor(call.amount, scale)}`
  const head = `${what}${amount} of ${call.receivedAt.toISOString()}`
  const reason = because(call.reason)
  switch (call.outcome) {
    case 'unknown_user':
      return `${head} named user ${quoted(call.user ?? '')}, who had no wallet, and was answered ${call.answer.status}`
    case 'held':
      return call.open
        ? `${head} is held and waits for a decision${reason}`
        : `${head} was held${reason} and its item is closed${resolved(call)}`
    case 'test':
      return `${head} was a test postback, and tests of this network are recorded only`
    case 'ignored':
      return `${head} asks for no booking${reason}`
    case 'malformed':
      return `${head} could not be used${reason} and was answered ${call.answer.status}`
    case 'bad_signature':
      return `${head} had no valid signature${reason} and was answered ${call.answer.status}`
    case 'ip_not_allowed':
      return `${head} came from ${call.ip}, which the network's allowed addresses do not hold`
    case 'overloaded':
      return `${head} met a database that was away or too busy, and was answered ${call.answer.status} so that the network sends again`
    case 'failed':
      return `${head} failed${reason} and was answered ${call.answer.status} so that the network sends again`
    default:
      return `${head} is recorded as ${call.outcome}, but the ledger holds no entry under this id`
  }
}

function newestOf(calls: readonly Postback[]): Postback | null {
  return calls.reduce<Postback | null>(
    (newest, call) => (newest === null || call.receivedAt >= newest.receivedAt ? call : newest),
    null,
  )
}

const time = (entry: LedgerEntry): string => entry.createdAt.toISOString()
const quoted = (text: string): string => JSON.stringify(text)
const because = (reason: string | null): string => (reason === null ? '' : ` (${reason})`)
const callCount = (count: number): string => (count === 1 ? '1 call' : `${count} calls`)
const resolved = (call: Postback): string =>
  call.resolvedReason === null ? '' : ` with the reason ${quoted(call.resolvedReason)}`
const balance = (entry: LedgerEntry, scale: number): string =>
  entry.balanceAfter === null ? '' : ` (balance after it: ${formatMinor(entry.balanceAfter, scale)})`
