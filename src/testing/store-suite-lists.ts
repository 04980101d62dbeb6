/**
 * The lists of the inbox on a real store: every filter, alone and together, against a plain look at all rows.
 *
 * @module
 */
import assert from 'node:assert/strict'
import type { GroupMember } from '../ledger/group.js'
import type { PostbackRow } from '../ledger/postback-row.js'
import type { LedgerStore, PostbackFilter } from '../ledger/store.js'
import { OUTCOMES, type Outcome } from '../outcome.js'
import { makeClaim, nextPostbackId, rowOf } from './claims.js'
import { applyMembers, onFresh, settleOne } from './suite-steps.js'
import type { OpenSuiteStore, SuiteRunner } from './suite-store.js'

const ROWS = 600
const FIRST = Date.parse('2026-02-01T00:00:00Z')
const HOUR_MS = 3_600_000

/** Ids that a wildcard, a fold of case, a cut or another order than that of bytes would mix up. */
const TRANSACTIONS = [
  't',
  'tx',
  'tx_',
  'tx_1',
  'txa',
  'tx%',
  'TX_1',
  'tx\\',
  'txé',
  'tx\u{10ffff}',
  '\u{1f600}b',
  '0',
]
const USERS = ['u', 'u_', 'u%1', 'u%2', 'U', 'josé', 'tx_user', '\ud7ffz']
const NETWORKS = ['n', 'm', 'N', 'n2']

export function listsSuite({ describe, it }: SuiteRunner, open: OpenSuiteStore): void {
  describe('lists', () => {
    it(
      'every filter finds the same rows as a look at all of them',
      onFresh(open, async ({ store, addWallet }) => {
        const rows = await fill(store, addWallet)
        for (const filter of filters(rows)) {
          const expected = rows.filter((row) => passes(row, filter)).map(({ id }) => id)
          for (const limit of [expected.length > 100 ? 60 : 7, 500]) {
            assert.deepEqual(await listAll(store, filter, limit), expected, JSON.stringify(filter))
          }
        }
      }),
    )

    it(
      'a page goes on from any row, among rows of one instant and of ids that begin alike',
      onFresh(open, async ({ store, addWallet }) => {
        const rows = await fill(store, addWallet)
        for (const filter of [{}, { q: 'tx' }, { network: ['n'] }, { user: ['u_', 'u%1'] }] as const) {
          const passing = rows.filter((row) => passes(row, filter)).map(({ id }) => id)
          for (let start = 0; start < passing.length - 1; start += 23) {
            const page = await store.listPostbacks(filter, { limit: 5, cursor: passing[start] ?? null })
            assert.deepEqual(
              page.items.map(({ id }) => id),
              passing.slice(start + 1, start + 6),
            )
            assert.equal(page.nextCursor, start + 6 < passing.length ? passing[start + 5] : null)
          }
        }
      }),
    )
  })
}

/** Rows over some weeks, many of them at one instant, newest first; a later entry of the ledger has closed some. */
async function fill(
  store: LedgerStore,
  addWallet: (user: string) => Promise<void>,
): Promise<readonly PostbackRow[]> {
  const pick = <T>(values: readonly T[], n: number): T => values[n % values.length] as T
  const rows: PostbackRow[] = []
  const credits: GroupMember[] = []
  const keys = new Set<string>()
  for (let n = 0; n < ROWS; n += 1) {
    const at = new Date(FIRST + Math.floor(n / 4) * 5 * HOUR_MS + (n % 4 === 3 ? 1 : 0))
    const transactionId = pick(TRANSACTIONS, n * 7 + Math.floor(n / 50))
    const network = pick(NETWORKS, n >> 3)
    const claim = makeClaim({
      postbackId: nextPostbackId(at),
      transactionId,
      user: pick(USERS, n * 5),
      network,
    })
    const outcome = pick<Outcome>(OUTCOMES, n * 3 + Math.floor(n / 90))
    const open = ['unknown_user', 'held', 'conflict', 'malformed'].includes(outcome) && n % 5 !== 0
    const nameless =
      outcome === 'bad_signature' ? { transactionId: null, user: null, transactionKey: null } : {}
    // The ledger has an entry for each credited row; of equal transactions the later ones have a longer key.
    const key = keys.has(`${network} ${transactionId}`) ? `${transactionId}\u001f${n}` : transactionId
    const credit = { ...claim, idSpace: network, transactionKey: key }
    const settled = { outcome, reason: null }
    const row = {
      ...rowOf(outcome === 'credited' ? credit : claim, settled),
      receivedAt: at,
      open,
      ...nameless,
    }
    rows.push(row)
    if (outcome !== 'credited') continue
    keys.add(`${network} ${transactionId}`)
    credits.push({ leader: { id: row.id, claim: credit, fixed: null, row: () => row }, copies: [] })
  }
  await store.writePostbacks(rows.filter(({ outcome }) => outcome !== 'credited'))
  for (const user of [...USERS, 'payee']) await addWallet(user)
  await applyMembers(store, credits)
  const booked = rows.filter(({ outcome }) => outcome === 'credited')
  for (const transactionId of TRANSACTIONS.filter((id) => !keys.has(`n ${id}`))) {
    const claim = makeClaim({ transactionId, user: 'payee' })
    await settleOne(store, claim)
    booked.push(rowOf(claim, { outcome: 'credited', reason: null }))
  }
  const closed = (row: PostbackRow): boolean =>
    (row.outcome === 'unknown_user' || row.outcome === 'held') &&
    booked.some(({ idSpace, transactionKey: key }) => idSpace === row.idSpace && key === row.transactionKey)
  return [
    ...rows.map((row) => ({ ...row, open: row.open && !closed(row) })),
    ...booked.filter((row) => !rows.includes(row)),
  ].sort((a, b) => (a.id < b.id ? 1 : -1))
}

function* filters(rows: readonly PostbackRow[]): Generator<PostbackFilter> {
  const middle = rows[ROWS / 2]?.receivedAt ?? new Date(0)
  const around = [-1, 0, 1].map((milliseconds) => new Date(middle.getTime() + milliseconds))
  const single: PostbackFilter[] = [
    {},
    ...NETWORKS.map((network) => ({ network: [network] })),
    { network: ['n', 'N', 'nowhere', 'n'] },
    ...USERS.map((user) => ({ user: [user] })),
    { user: ['u', 'U', 'nobody'] },
    ...TRANSACTIONS.map((id) => ({ transactionId: [id] })),
    { transactionId: ['tx_', 'tx_1', 'none'] },
    ...OUTCOMES.map((outcome) => ({ outcome: [outcome] })),
    { outcome: ['held', 'unknown_user', 'failed'] },
    { open: true },
    { open: false },
    ...around.flatMap((time) => [{ since: time }, { until: time }]),
    { since: middle, until: new Date(middle.getTime() + 1) },
    { since: middle, until: middle },
    ...[
      '',
      't',
      'tx',
      'tx_',
      'tx%',
      'tx\\',
      'TX',
      'txé',
      'tx\u{10ffff}',
      '\u{1f600}',
      '\ud7ff',
      'u%',
      'zz',
      'payee',
    ].map((q) => ({ q })),
  ]
  yield* single
  const mixed = single.filter((_, place) => place % 4 === 1)
  for (const [place, one] of mixed.entries()) {
    for (const other of mixed.slice(place + 1)) yield { ...one, ...other }
  }
}

function passes(row: PostbackRow, filter: PostbackFilter): boolean {
  const among = (list: readonly string[] | undefined, value: string | null): boolean =>
    list === undefined || (value !== null && list.includes(value))
  return (
    among(filter.network, row.network) &&
    among(filter.user, row.user) &&
    among(filter.transactionId, row.transactionId) &&
    among(filter.outcome, row.outcome) &&
    (filter.open === undefined || filter.open === row.open) &&
    (filter.since === undefined || row.receivedAt >= filter.since) &&
    (filter.until === undefined || row.receivedAt < filter.until) &&
    (filter.q === undefined ||
      filter.q === '' ||
      [row.transactionId, row.user].some((id) => id?.startsWith(filter.q ?? '') === true))
  )
}

async function listAll(
  store: LedgerStore,
  filter: PostbackFilter,
  limit: number,
): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<LedgerStore['listPostbacks']>> = await store.listPostbacks(filter, {
      limit,
      cursor,
    })
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== null)
  return ids
}
