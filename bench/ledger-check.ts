/**
 * Whether the ledger agrees with the balances and with the answers. A run whose ledger is wrong has no figure.
 *
 * @module
 */
import { countIn, type BenchDatabase } from './databases/database.js'
import { countKinds } from './load/calls.js'
import type { UrlFile } from './load/url-file.js'
import type { LoadReport } from './load/wrk.js'

/** What a database has to hold after what was sent to it. What was in flight when wrk ended is booked or not. */
export interface Sent {
  readonly credits: Range
  readonly reversals: Range
  /** Inbox rows whose answer was 200. */
  readonly kept: Range
  /** Answers of a status that the call should not have got. */
  readonly surprises: number
  /** Connections that failed or waited too long. */
  readonly broken: number
}

export interface Range {
  readonly least: number
  readonly most: number
}

const NONE: Range = { least: 0, most: 0 }

export const NOTHING_SENT: Sent = { credits: NONE, reversals: NONE, kept: NONE, surprises: 0, broken: 0 }

export interface SentLoad {
  readonly file: UrlFile
  readonly report: LoadReport
  /** Lines of the file that an earlier load had sent. */
  readonly skip?: number
  /** All of it was booked before. */
  readonly copies?: boolean
  /** The server may answer 503; the load counted its statuses. */
  readonly mayRefuse?: boolean
}

/** What one load adds. */
export function sentBy({ file, report, skip = 0, copies = false, mayRefuse = false }: SentLoad): Sent {
  const open = report.taken - report.requests
  const { connect, read, write, timeout, status } = report.errors
  const kinds = countKinds(file.plan, skip, skip + report.taken)
  const refused = mayRefuse ? (report.statuses['503'] ?? 0) : 0
  const accepted = report.requests - status
  const fresh = (count: number): Range =>
    copies ? NONE : { least: Math.max(0, count - open - refused), most: count }
  const forged = copies ? 0 : kinds.forged
  const others = status - refused
  return {
    credits: fresh(kinds.credit),
    reversals: fresh(kinds.reversal),
    kept: { least: accepted, most: accepted + open },
    surprises: Math.max(0, others - forged, forged - open - others),
    broken: connect + read + write + timeout,
  }
}

export function addSent(one: Sent, other: Sent): Sent {
  const both = (a: Range, b: Range): Range => ({ least: a.least + b.least, most: a.most + b.most })
  return {
    credits: both(one.credits, other.credits),
    reversals: both(one.reversals, other.reversals),
    kept: both(one.kept, other.kept),
    surprises: one.surprises + other.surprises,
    broken: one.broken + other.broken,
  }
}

export interface LedgerCounts {
  readonly credits: number
  readonly reversals: number
  /** Wallets whose balance is not the sum of their entries. */
  readonly wrongBalances: number
  /** Entries of users without a wallet. */
  readonly strays: number
  /** Paidonce's own. */
  readonly paidonce?: {
    readonly entries: number
    readonly messages: number
    /** Inbox rows whose answer was 200. */
    readonly kept: number
    /** Entries whose balance does not follow from the one before. */
    readonly brokenChain: number
  }
}

/** What contradicts what; empty where all is well. */
export function findFaults(sent: Sent, counts: LedgerCounts): string[] {
  const faults: string[] = []
  const expect = (what: string, actual: number, { least, most }: Range): void => {
    if (actual >= least && actual <= most) return
    faults.push(`${what}: ${actual}, expected ${least === most ? least : `${least} to ${most}`}`)
  }
  expect('connections that failed', sent.broken, NONE)
  expect('answers of an unexpected status', sent.surprises, NONE)
  expect('credit rows', counts.credits, sent.credits)
  expect('reversal rows', counts.reversals, sent.reversals)
  expect('wallets whose balance is not the sum of their entries', counts.wrongBalances, NONE)
  expect('entries of users without a wallet', counts.strays, NONE)
  if (counts.paidonce !== undefined) {
    const { entries, messages, kept, brokenChain } = counts.paidonce
    expect('outbox rows', messages, { least: entries, most: entries })
    expect('inbox rows answered 200', kept, sent.kept)
    expect('entries whose balance_after does not follow', brokenChain, NONE)
  }
  return faults
}

/** One statement for each count, in words that all three databases understand. */
const PAIDONCE = {
  credits: `select count(*) as n from paidonce_ledger where entry = 'credit' and decision = 'booked'`,
  reversals: `select count(*) as n from paidonce_ledger where entry = 'reversal' and decision = 'booked'`,
  wrongBalances: wrongBalances('paidonce_wallets', 'user_id', 'paidonce_ledger'),
  strays: `select count(*) as n from paidonce_ledger
    where amount <> 0 and user_id not in (select user_id from paidonce_wallets)`,
  entries: 'select count(*) as n from paidonce_ledger where amount <> 0',
  messages: 'select count(*) as n from paidonce_outbox',
  kept: 'select count(*) as n from paidonce_postbacks where answer_status = 200',
  brokenChain: `select count(*) as n from (
    select amount, balance_after,
      coalesce(lag(balance_after) over (partition by user_id order by id), 0) as earlier
    from paidonce_ledger where balance_after is not null
  ) c where balance_after <> earlier + amount`,
} as const

const TEXTBOOK = {
  credits: `select count(*) as n from transactions where entry = 'credit'`,
  reversals: `select count(*) as n from transactions where entry = 'reversal'`,
  wrongBalances: wrongBalances('users', 'id', 'transactions'),
  strays: 'select count(*) as n from transactions where user_id not in (select id from users)',
} as const

function wrongBalances(wallets: string, id: string, entries: string): string {
  return `select count(*) as n from ${wallets} w
    left join (select user_id, sum(amount) as total from ${entries} group by user_id) e on e.user_id = w.${id}
    where w.balance <> coalesce(e.total, 0)`
}

export async function countLedger(database: BenchDatabase, isPaidonce: boolean): Promise<LedgerCounts> {
  const count = async (sql: string): Promise<number> => countIn((await database.rows(sql))[0])
  const common = isPaidonce ? PAIDONCE : TEXTBOOK
  const counts = {
    credits: await count(common.credits),
    reversals: await count(common.reversals),
    wrongBalances: await count(common.wrongBalances),
    strays: await count(common.strays),
  }
  if (!isPaidonce) return counts
  return {
    ...counts,
    paidonce: {
      entries: await count(PAIDONCE.entries),
      messages: await count(PAIDONCE.messages),
      kept: await count(PAIDONCE.kept),
      brokenChain: await count(PAIDONCE.brokenChain),
    },
  }
}

/** What was there before does not count: a deep ledger has rows of its own, which are right as they are. */
export function countsSince(before: LedgerCounts, after: LedgerCounts): LedgerCounts {
  const { paidonce: old, ...plain } = before
  const { paidonce, ...rest } = after
  return {
    credits: rest.credits - plain.credits,
    reversals: rest.reversals - plain.reversals,
    wrongBalances: rest.wrongBalances,
    strays: rest.strays,
    ...(paidonce === undefined || old === undefined
      ? {}
      : {
          paidonce: {
            entries: paidonce.entries - old.entries,
            messages: paidonce.messages - old.messages,
            kept: paidonce.kept - old.kept,
            brokenChain: paidonce.brokenChain,
          },
        }),
  }
}

/** @throws LedgerFault where something differs */
export async function checkLedger(
  database: BenchDatabase,
  isPaidonce: boolean,
  sent: Sent,
  before?: LedgerCounts,
): Promise<void> {
  const counts = await countLedger(database, isPaidonce)
  const faults = findFaults(sent, before === undefined ? counts : countsSince(before, counts))
  if (faults.length > 0) throw new LedgerFault(faults)
}

/** Its message says what differs. */
export class LedgerFault extends Error {
  constructor(faults: readonly string[]) {
    super(`The ledger does not agree with what was sent: ${faults.join('; ')}.`)
    this.name = 'LedgerFault'
  }
}
