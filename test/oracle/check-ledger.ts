/**
 * The invariants of the ledger, checked from raw rows. It shares no code with the product: a fault in the product's
 * own reading of its rows must not be able to hide one.
 */

/** One raw ledger row, in the store's own order. Amounts in minor units. */
export interface RawEntry {
  readonly order: bigint
  readonly idSpace: string
  readonly key: string
  readonly entry: string
  readonly user: string
  readonly amount: bigint
  readonly balanceAfter: bigint | null
  readonly decision: string
  readonly postbackId: string | null
}

export interface RawLedger {
  readonly entries: readonly RawEntry[]
  /** Balances as stored. */
  readonly wallets: ReadonlyMap<string, bigint>
}

/** What a client sent and what it was told. */
export interface Sent {
  readonly postbackId: string
  readonly idSpace: string
  readonly key: string
  readonly entry: 'credit' | 'reversal'
  readonly user: string
  readonly amount: bigint
  /** Null while nothing was answered, or where the answer asked to send again. */
  outcome: string | null
}

/** Every way in which the ledger contradicts itself or what was sent; empty when all is well. */
export function checkLedger(
  ledger: RawLedger,
  sent: readonly Sent[],
  opening: ReadonlyMap<string, bigint> = new Map(),
): string[] {
  return [
    ...checkUnique(ledger.entries),
    ...checkBalances(ledger, opening),
    ...checkPairs(ledger.entries),
    ...checkOrigins(ledger.entries, sent),
    ...checkAnswers(ledger.entries, sent),
  ]
}

function checkUnique(entries: readonly RawEntry[]): string[] {
  const seen = new Set<string>()
  return entries.flatMap(({ idSpace, key, entry }) => {
    const name = `${idSpace}|${key}|${entry}`
    if (seen.has(name)) return [`I1: ${name} stands twice`]
    seen.add(name)
    return []
  })
}

function checkBalances({ entries, wallets }: RawLedger, opening: ReadonlyMap<string, bigint>): string[] {
  const faults: string[] = []
  const running = new Map(opening)
  for (const { user, amount, balanceAfter, decision, key, entry } of inOrder(entries)) {
    if (decision !== 'booked') {
      if (balanceAfter !== null) faults.push(`I2: ${key} ${entry} moved no balance and names one`)
      continue
    }
    const after = (running.get(user) ?? 0n) + amount
    if (balanceAfter !== after)
      faults.push(`I2: ${key} ${entry} of ${user} says ${String(balanceAfter)}, the chain gives ${after}`)
    running.set(user, after)
  }
  for (const [user, balance] of wallets) {
    const expected = running.get(user) ?? 0n
    if (balance !== expected) faults.push(`I2: ${user} holds ${balance}, the ledger gives ${expected}`)
  }
  return faults
}

function checkPairs(entries: readonly RawEntry[]): string[] {
  const credits = new Map(
    entries.filter((row) => row.entry === 'credit').map((row) => [`${row.idSpace}|${row.key}`, row]),
  )
  return entries
    .filter((row) => row.entry === 'reversal')
    .flatMap((reversal) => {
      const credit = credits.get(`${reversal.idSpace}|${reversal.key}`)
      if (credit === undefined) return [`I5: reversal of ${reversal.key} without a credit`]
      if (reversal.amount !== -credit.amount)
        return [`I5: reversal of ${reversal.key} takes ${reversal.amount} of ${credit.amount}`]
      if (reversal.user !== credit.user)
        return [`I5: reversal of ${reversal.key} takes from ${reversal.user}, paid was ${credit.user}`]
      return []
    })
}

/** I4: every row was sent by somebody, with that content. */
function checkOrigins(entries: readonly RawEntry[], sent: readonly Sent[]): string[] {
  const byId = new Map(sent.map((call) => [call.postbackId, call]))
  return entries.flatMap((row) => {
    const call = row.postbackId === null ? undefined : byId.get(row.postbackId)
    if (call === undefined) return [`I4: ${row.key} ${row.entry} was never sent`]
    if (call.key !== row.key || call.idSpace !== row.idSpace)
      return [`I4: ${row.key} was written for a call about ${call.key}`]
    const isTombstone = row.decision === 'tombstone'
    if (row.entry !== call.entry && !isTombstone)
      return [`I4: ${row.key} ${row.entry} was written for a ${call.entry}`]
    if (row.entry === 'credit' && !isTombstone && (row.amount !== call.amount || row.user !== call.user)) {
      return [`I4: ${row.key} pays ${row.amount} to ${row.user}, sent was ${call.amount} to ${call.user}`]
    }
    return []
  })
}

/** I3 and the table: each answer that was given agrees with what stands. */
function checkAnswers(entries: readonly RawEntry[], sent: readonly Sent[]): string[] {
  const standing = new Map(entries.map((row) => [`${row.idSpace}|${row.key}|${row.entry}`, row]))
  return sent.flatMap((call) => {
    const credit = standing.get(`${call.idSpace}|${call.key}|credit`)
    const reversal = standing.get(`${call.idSpace}|${call.key}|reversal`)
    const fault = (text: string): string[] => [
      `I3: ${call.entry} ${call.key} (${call.postbackId}) was answered ${String(call.outcome)}, ${text}`,
    ]
    switch (call.outcome) {
      case 'credited':
        return credit?.postbackId === call.postbackId &&
          credit.amount === call.amount &&
          credit.user === call.user
          ? []
          : fault('but its entry is not there')
      case 'reversed':
        return reversal?.postbackId === call.postbackId && reversal.decision !== 'tombstone'
          ? []
          : fault('but its entry is not there')
      case 'tombstoned':
        return credit?.decision === 'tombstone' &&
          (call.entry === 'credit' || reversal?.postbackId === call.postbackId)
          ? []
          : fault('but there is no tombstone')
      case 'duplicate':
        return credit?.decision === 'booked' &&
          credit.user === call.user &&
          credit.amount === call.amount &&
          credit.postbackId !== call.postbackId
          ? []
          : fault('but no equal credit of another call stands')
      case 'conflict':
        return credit !== undefined && (credit.user !== call.user || credit.amount !== call.amount)
          ? []
          : fault('but nothing contradicts it')
      case 'already_reversed':
        return reversal !== undefined && reversal.postbackId !== call.postbackId
          ? []
          : fault('but no reversal of another call stands')
      default:
        return []
    }
  })
}

function inOrder(entries: readonly RawEntry[]): RawEntry[] {
  return [...entries].sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0))
}
