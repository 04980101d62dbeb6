/**
 * Everything that the lists can be asked for, with values that vary from call to call: frequent ones, rare ones, old
 * ones and such as do not exist.
 *
 * @module
 */
import { NETWORK_NAMES, RARE_NETWORK, WALLETS } from './shape.js'

/** A call of the inbox, as the admin API gives it. */
export interface Known {
  readonly id: string
  readonly network: string
  readonly receivedAt: string
  readonly transactionId: string | null
  readonly user: string | null
}

export interface ListQuery {
  readonly name: string
  /** Whether it is more than one filter of the contract, a page's cursor aside. */
  readonly pair: boolean
  /** The path and query of the n-th call. */
  readonly path: (n: number) => string
}

const NETWORKS = [...NETWORK_NAMES, RARE_NETWORK, 'nowhere']
const OUTCOMES = ['credited', 'reversed', 'duplicate', 'already_reversed', 'conflict', 'unknown_user']
const RARE_OUTCOMES = ['held', 'ignored', 'bad_signature', 'malformed', 'failed', 'test']
const ALL_OUTCOMES = [...OUTCOMES, ...RARE_OUTCOMES]

export function listQueries(known: readonly Known[]): readonly ListQuery[] {
  const row = (n: number): Known => at(known, n * 7)
  const user = (n: number): string =>
    at(['user-00001', `user-${String(((n * 257) % WALLETS) + 1).padStart(5, '0')}`, 'nobody'], n)
  const transaction = (n: number): string => (n % 8 === 7 ? 'no-such-id' : (row(n).transactionId ?? ''))
  const network = (n: number): string => at(NETWORKS, n)
  const outcome = (n: number): string => at(ALL_OUTCOMES, n)
  const prefix = (n: number): string =>
    at(
      [
        transaction(n).slice(0, 2 + (n % 9)),
        `tx-${(n % 9) + 1}`,
        user(n),
        `user-0${n % 10}`,
        (n % 16).toString(16).repeat(1 + (n % 3)),
        'ghost-',
        'zzz',
        transaction(n),
      ],
      n,
    )
  const since = (n: number): string => row(n).receivedAt
  const day = (n: number): string => new Date(Date.parse(since(n)) + 86_400_000).toISOString()
  const postbacks = (name: string, query: (n: number) => Readonly<Record<string, string>>): ListQuery => ({
    name,
    pair: name.replace('+cursor', '').replace('since+until', 'since').includes('+'),
    path: (n) => `/postbacks?${new URLSearchParams(query(n)).toString()}`,
  })
  return [
    postbacks('none', () => ({})),
    postbacks('network', (n) => ({ network: network(n) })),
    postbacks('user', (n) => ({ user: user(n) })),
    postbacks('transactionId', (n) => ({ transactionId: transaction(n) })),
    postbacks('outcome', (n) => ({ outcome: outcome(n) })),
    postbacks('open', (n) => ({ open: String(n % 4 !== 0) })),
    postbacks('since', (n) => ({ since: since(n) })),
    postbacks('until', (n) => ({ until: since(n) })),
    postbacks('q', (n) => ({ q: prefix(n) })),
    postbacks('cursor', (n) => ({ cursor: row(n).id })),
    postbacks('network+cursor', (n) => ({ network: network(n), cursor: row(n).id })),
    postbacks('network+outcome', (n) => ({ network: network(n), outcome: outcome(n >> 1) })),
    postbacks('network+open', (n) => ({ network: network(n), open: 'true' })),
    postbacks('network+since+until', (n) => ({ network: network(n), since: since(n), until: day(n) })),
    postbacks('outcome+open', (n) => ({ outcome: outcome(n), open: String(n % 2 === 0) })),
    postbacks('outcome+until', (n) => ({ outcome: outcome(n), until: since(n) })),
    postbacks('user+network', (n) => ({ user: user(n), network: network(n) })),
    postbacks('user+outcome', (n) => ({ user: user(n), outcome: outcome(n) })),
    postbacks('user+cursor', (n) => ({ user: user(n), cursor: row(n).id })),
    postbacks('user+since+until', (n) => ({ user: user(n), since: since(n), until: day(n) })),
    postbacks('q+network', (n) => ({ q: prefix(n), network: network(n) })),
    postbacks('q+outcome', (n) => ({ q: prefix(n), outcome: outcome(n) })),
    postbacks('q+open', (n) => ({ q: prefix(n), open: 'true' })),
    postbacks('q+cursor', (n) => ({ q: prefix(n), cursor: row(n).id })),
    postbacks('network+transactionId', (n) => ({ network: network(n), transactionId: transaction(n) })),
    { name: 'entries', pair: false, path: (n) => `/wallets/${user(n % 2)}/entries` },
    {
      name: 'entries+cursor',
      pair: false,
      path: (n) => `/wallets/user-00001/entries?cursor=${String(1 + n * 99_991)}`,
    },
    { name: 'transaction', pair: false, path: (n) => `/transactions/${row(n).network}/${transaction(n)}` },
    { name: 'wallets', pair: false, path: (n) => `/wallets?prefix=${user(n)}` },
  ]
}

function at<T>(values: readonly T[], place: number): T {
  const value = values[place % values.length]
  if (value === undefined) throw new RangeError('There is nothing to choose from.')
  return value
}
