/**
 * The statements that write a group: one for wallets, entries, messages and inbox rows, one for inbox rows alone.
 *
 * @module
 */
import type { GroupPlan, WalletChange } from '../../ledger/group.js'
import type { PostbackRow } from '../../ledger/postback-row.js'
import type { EntryRow } from '../../ledger/types.js'
import { formatMinor, MAX_BALANCE_MINOR } from '../../money.js'
import type { KnownCredit } from '../guess.js'
import type { TableNames } from '../table-names.js'
import { arrayText, encodeRow, encodeRows, rowSource, singleSource, type RowSource } from './columns.js'
import { countKnown, KNOWN_COLUMNS } from './known-credits.js'
import { BALANCE_COLUMNS, ENTRY_COLUMNS, POSTBACK_COLUMNS, type NewEntry } from './rows.js'
import { statement, type Statement } from './session.js'
import type { WalletSql } from './wallet-table.js'

const WRITTEN_COLUMNS = [...ENTRY_COLUMNS, ...BALANCE_COLUMNS]

/** A balance within half of the limit is within the limit after whatever one group can add to it or take from it. */
const SAFE_BALANCE_MINOR = MAX_BALANCE_MINOR / 2n

export interface WriteOptions {
  readonly scale: number
  readonly outbox: boolean
  readonly kind: WriteKind
}

/**
 * `merge` is for a group that was looked up. The others are guesses: a key or an id that is there already, a wallet that is
 * missing and a balance near the limit all make the statement fail, and what ON CONFLICT costs is saved. `single` has one
 * entry and one inbox row, which nobody waits beside. `known` proves credits that were not looked up, too.
 */
export type WriteKind = 'merge' | 'new' | 'single' | 'known'

export function writeStatement(
  names: TableNames,
  wallets: WalletSql,
  { scale, outbox, kind }: WriteOptions,
): Statement {
  const source = kind === 'single' ? singleSource : rowSource
  const isNew = kind !== 'merge'
  const entryNames = ENTRY_COLUMNS.map(({ name }) => name).join(', ')
  const entries = source(WRITTEN_COLUMNS, 1, 'e')
  const users = 1 + entries.parameters
  const rows = source(POSTBACK_COLUMNS, users + 3, 'r')
  const known = kind === 'known' ? countKnown(names, users + 3 + rows.parameters) : null
  // The names of the parts are long, because a publisher's table of the same name would be hidden by them.
  // The wallets come first, because every entry tells the balance that it left. Their balances stand in a list in the
  // order of the parameters, so that a place in it is one of the group's changes.
  // ON CONFLICT DO NOTHING waits for an uncommitted entry of the same key and then inserts nothing: the count tells.
  return statement(`with paidonce__changed as (
  ${wallets.add(users, users + 1, users + 2)}
), paidonce__balances as (
  select array_agg(balance order by place) as list, count(*) as number,
    count(*) filter (where abs(balance) < ${formatMinor(SAFE_BALANCE_MINOR, scale)}) as safe
  from paidonce__changed
), paidonce__booked as (
  insert into ${names.table('ledger')} (${entryNames}, balance_after)
  select ${entryNames}, coalesce((select list from paidonce__balances)[wallet], 0) + behind
  from (select ${entries.select} from ${entries.from}) e
  ${isNew ? '' : 'on conflict (id_space, transaction_key, entry) do nothing'}
  returning id_space, transaction_key, entry, user_id, amount, imported
)${outbox ? messagesOf(names) : ''}, paidonce__kept as (
  ${keep(names, rows)}
  ${isNew ? '' : REWRITE}
)
select (select count(*) from paidonce__booked)::text as entries, number::text as changes${
    isNew
      ? `,\n  ${proofOf('wallets', { found: 'safe', wanted: `cardinality($${users}::text[])` })} as proof`
      : ''
  }${known === null ? '' : `,\n  ${proofOf('credits', known)} as known`}
from paidonce__balances`)
}

/** Writes inbox rows alone, and proves the credits that they are about. */
export function keepStatement(names: TableNames): Statement {
  const rows = rowSource(POSTBACK_COLUMNS, 1, 'r')
  return statement(`with paidonce__kept as (
  ${keep(names, rows)}
)
select ${proofOf('credits', countKnown(names, 1 + rows.parameters))} as known`)
}

function keep(names: TableNames, rows: RowSource): string {
  const columns = POSTBACK_COLUMNS.map(({ name }) => name).join(', ')
  return `insert into ${names.table('postbacks')} as p (${columns})
  select ${rows.select} from ${rows.from}`
}

function messagesOf(names: TableNames): string {
  return `, paidonce__messages as (
  insert into ${names.table('outbox')} (event, id_space, transaction_key, entry, user_id)
  select entry || '.booked', id_space, transaction_key, entry, user_id
  from paidonce__booked where amount <> 0 and not imported
)`
}

/**
 * What a second run of the same postback (after a lost reply, or by reprocessing) may change of its inbox row; `open`
 * beside it, because what a person has closed stays closed.
 */
const REWRITTEN = [
  'outcome',
  'reason',
  'verified',
  'test',
  'transaction_id',
  'id_space',
  'transaction_key',
  'entry',
  'user_id',
  'amount',
  'answer_status',
  'answer_body',
  'milliseconds',
] as const

const REWRITE = `on conflict (id) do update set ${REWRITTEN.map((name) => `${name} = excluded.${name}`).join(', ')},
    open = excluded.open and p.resolved_reason is null`

/** NULL where as many are found as were planned; else an error whose text an operator can read. */
function proofOf(
  what: string,
  { found, wanted }: { readonly found: string; readonly wanted: string },
): string {
  return `(select case when n <> ${wanted} then ('Paidonce settles this group again, step by step: ' || n || ' of '
    || ${wanted} || ' ${what} were as expected.')::integer end from (select ${found} as n) found)`
}

export function isSingle({ entries, rows }: Pick<GroupPlan, 'entries' | 'rows'>): boolean {
  return entries.length === 1 && rows.length === 1
}

/** The values of `merge`, of `new`, and with `known` of that. */
export function writeValues(
  { entries, changes, rows }: Pick<GroupPlan, 'entries' | 'changes' | 'rows'>,
  wallets: WalletSql,
  scale: number,
  known: readonly KnownCredit[] = [],
): (string | null)[] {
  return [
    ...encodeRows(WRITTEN_COLUMNS, newEntries(entries, changes), scale),
    ...changeValues(changes, wallets, scale),
    ...encodeRows(POSTBACK_COLUMNS, rows, scale),
    ...(known.length === 0 ? [] : encodeRows(KNOWN_COLUMNS, known, scale)),
  ]
}

/** The values of `single`. */
export function singleValues(
  { entries, changes, rows }: Pick<GroupPlan, 'entries' | 'changes' | 'rows'>,
  wallets: WalletSql,
  scale: number,
): (string | null)[] {
  return [
    ...newEntries(entries, changes).flatMap((entry) => encodeRow(WRITTEN_COLUMNS, entry, scale)),
    ...changeValues(changes, wallets, scale),
    ...rows.flatMap((row) => encodeRow(POSTBACK_COLUMNS, row, scale)),
  ]
}

/** The values of `keepStatement`. */
export function keepValues(
  rows: readonly PostbackRow[],
  known: readonly KnownCredit[],
  scale: number,
): (string | null)[] {
  return [...encodeRows(POSTBACK_COLUMNS, rows, scale), ...encodeRows(KNOWN_COLUMNS, known, scale)]
}

function changeValues(changes: readonly WalletChange[], wallets: WalletSql, scale: number): string[] {
  const users = changes.map(({ user }) => user)
  return [
    arrayText(users, (user) => user),
    arrayText(wallets.keysOf(users), (key) => key),
    arrayText(changes, ({ amount }) => formatMinor(amount, scale)),
  ]
}

function newEntries(entries: readonly EntryRow[], changes: readonly WalletChange[]): NewEntry[] {
  const places = new Map(changes.map(({ user, after }, index) => [user, { wallet: index + 1, after }]))
  return entries.map((row) => newEntry(row, places.get(row.user)))
}

function newEntry(
  row: EntryRow,
  change: { readonly wallet: number; readonly after: bigint } | undefined,
): NewEntry {
  const { balanceAfter } = row
  if (change === undefined || balanceAfter === null) return { row, wallet: null, behind: balanceAfter }
  return { row, wallet: change.wallet, behind: balanceAfter - change.after }
}
