/**
 * SQL about wallets, ours or the publisher's, behind one shape. A user is found byte for byte whatever the type or
 * collation of the id column: an equality on the column's own type lets its index serve, and a comparison of its text
 * form under `COLLATE "C"` decides.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import type { WalletRow } from '../../ledger/store.js'
import { formatMinor } from '../../money.js'
import { statement, type Statement } from './session.js'
import type { TextRow } from './driver.js'

/** Types that an id column may have, by PostgreSQL's own names. */
export const ID_TYPES = ['text', 'varchar', 'bpchar', 'citext', 'uuid', 'int2', 'int4', 'int8'] as const

export type IdType = (typeof ID_TYPES)[number]

/** Where wallets are. Names are quoted already. */
export interface WalletPlace {
  readonly table: string
  readonly id: string
  readonly balance: string
  readonly idType: IdType
  /** The type as it is written in a cast; `citext` may live in a schema of its own. */
  readonly castType: string
  /** Whether the column compares byte for byte by itself. */
  readonly bytewise: boolean
}

export interface WalletSql {
  /** `$1` users, `$2` keys: locks those that exist, leaving out the ones that others hold. */
  readonly lockFree: Statement
  /** The same, waiting for the others. */
  readonly lockWaiting: Statement
  /** `$1` users, `$2` keys: the wallets that exist, without any lock. */
  readonly find: Statement
  /**
   * An UPDATE for a WITH clause that adds amounts, given the numbers of its three array parameters. It answers the place
   * of each wallet in the arrays and what it holds now.
   */
  add(users: number, keys: number, amounts: number): string
  /** All wallets as a relation of `user_id` (bytewise text) and `minor` (balance in minor units, rounded down). */
  readonly relation: string
  /** The users as values of the id column's own type; null where the column cannot hold that text. */
  keysOf(users: readonly string[]): (string | null)[]
}

export function walletSql(place: WalletPlace, scale: number): WalletSql {
  const idText = place.bytewise ? `t.${place.id}` : `t.${place.id}::text collate "C"`
  const minor = `floor(t.${place.balance}::numeric * ${10 ** scale})::text`
  const same = (key: string): string =>
    `t.${place.id} = ${key}.key` + (place.bytewise ? '' : ` and ${idText} = ${key}.user_id`)
  const select = (lock: string): Statement =>
    // LATERAL with LIMIT makes every wallet one index look-up, in the order of the array: that order is the lock order.
    // NO KEY UPDATE is the lock that changing a balance takes; the app may insert rows that refer to the user meanwhile.
    statement(`select u.user_id, w.minor
from unnest($1::text[], $2::${place.castType}[]) as u(user_id, key)
cross join lateral (
  select ${minor} as minor from ${place.table} t where ${same('u')} limit 1${lock}
) w`)
  return {
    lockFree: select(' for no key update of t skip locked'),
    lockWaiting: select(' for no key update of t'),
    find: select(''),
    add: (
      users,
      keys,
      amounts,
    ) => `update ${place.table} t set ${place.balance} = t.${place.balance} + c.amount
  from unnest($${users}::text[], $${keys}::${place.castType}[], $${amounts}::numeric[])
    with ordinality as c(user_id, key, amount, place)
  where ${same('c')}
  returning c.place, floor(t.${place.balance}::numeric * ${10 ** scale}) * ${formatMinor(1n, scale)} as balance`,
    relation: `(select ${idText} as user_id, ${minor} as minor from ${place.table} t)`,
    keysOf: (users) => users.map((user) => keyFor(user, place.idType)),
  }
}

/** The only text that can be a value of the type, or null: "001234" and "72abc" are no integers, "A0…" is no uuid. */
export function keyFor(user: string, type: IdType): string | null {
  if (type === 'uuid') return UUID.test(user) ? user : null
  const range = INTEGER_RANGES[type]
  if (range === undefined) return user
  if (!CANONICAL_INTEGER.test(user)) return null
  const value = BigInt(user)
  return value >= -range && value < range ? user : null
}

const CANONICAL_INTEGER = /^(0|-?[1-9]\d{0,18})$/

/** As PostgreSQL prints it: lower case, with hyphens. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const INTEGER_RANGES: Readonly<Partial<Record<IdType, bigint>>> = {
  int2: 2n ** 15n,
  int4: 2n ** 31n,
  int8: 2n ** 63n,
}

/** Reads `user_id` and `minor`. A NULL, NaN or infinite balance in the publisher's table is refused, never taken as 0. */
export function readWalletRow(row: TextRow): WalletRow {
  const user = row['user_id']
  const minor = row['minor']
  if (typeof user !== 'string' || typeof minor !== 'string' || !/^-?\d+$/.test(minor)) {
    throw new StoreError(
      'refused',
      `The balance of wallet ${JSON.stringify(user)} is ${String(minor)}, not a number.`,
    )
  }
  return { user, balance: BigInt(minor) }
}
