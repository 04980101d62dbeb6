/**
 * What a long-lived ledger and inbox look like, as SQL that every database computes the same way from row numbers: no
 * row is made in this process, so that five million take about a minute.
 *
 * The ledger: user-00001 is a hot wallet with every twentieth entry, 9,999 others share the rest evenly. Every 46th
 * entry of a wallet takes back the one before it, so that balances are sums that a formula knows. Eleven networks have
 * skewed shares; ids of every second one look random, the others' count up.
 *
 * The inbox: 90 % credited, 2 % reversed, 6 to 7 % copies, 1 % unknown users (four fifths of them credited later),
 * 0.1 % conflicts, forged calls in the last thirty days, one held call, and one call of a twelfth network.
 *
 * @module
 */

/** How one database writes what the others write otherwise. */
export interface Words {
  /** The whole part of a quotient. */
  readonly div: (a: string, b: string | number) => string
  readonly concat: (...parts: readonly string[]) => string
  /** Lower-case digits with leading zeros. */
  readonly hex: (value: string, digits: number) => string
  /** Digits with leading zeros. */
  readonly padded: (value: string, digits: number) => string
  /** Milliseconds since 1970 as a column of time takes them. */
  readonly time: (milliseconds: string) => string
  /** An id of an inbox row from its 32 hexadecimal digits. */
  readonly uuid: (digits: string) => string
  /** Bytes of a text. */
  readonly bytes: (text: string) => string
  readonly flag: (value: boolean) => string
  /** Whole coins as a column of amounts takes them. */
  readonly coins: (whole: string) => string
  /** Keeps the planner from copying the expressions of a part into every place that uses them. */
  readonly fence: string
}

export interface Shape {
  readonly words: Words
  /** Rows of the ledger, and of the inbox. */
  readonly rows: number
  /** When the newest call arrived, in milliseconds. */
  readonly newest: number
}

export const WALLETS = 10_000
export const SPAN_DAYS = 399
const DAY_MS = 86_400_000
const FORGED_DAYS = 29
const OTHERS = WALLETS - 1
/** A prime that shares no factor with the number of other wallets, so that neighbours in time are different wallets. */
const STRIDE = 7_919
const CYCLE = 46
/** Coins of every credit. */
const REWARD = 10
/** Of a hundred calls in a row, so many have an entry of their own in the ledger. */
const BOOKED = 92

/** Names with their shares in thousandths. */
const NETWORKS = [
  ['sharklio', 400],
  ['network-02', 250],
  ['network-03', 120],
  ['network-04', 80],
  ['network-05', 50],
  ['network-06', 40],
  ['network-07', 25],
  ['network-08', 15],
  ['network-09', 10],
  ['network-10', 7],
  ['network-11', 3],
] as const

export const NETWORK_NAMES: readonly string[] = NETWORKS.map(([name]) => name)

/** The network of one single call. */
export const RARE_NETWORK = 'network-12'

/** `source` gives the numbers of the ledger's rows as column `l`. */
export function selectLedger(shape: Shape, source: string): string {
  const { words } = shape
  return `select l as id, network as id_space, tx as transaction_key,
  case when s = ${CYCLE - 1} then 'reversal' else 'credit' end as entry, network, tx as transaction_id,
  ${userOf(words)} as user_id, ${words.coins(`case when s = ${CYCLE - 1} then -${REWARD} else ${REWARD} end`)} as amount,
  ${words.coins(balanceAfter(words))} as balance_after, 'booked' as decision, ${words.flag(false)} as test,
  ${words.concat("'ev_'", 'l')} as event_id, '${REWARD}' as received_amount, 'coins' as unit,
  ${words.uuid(idDigits(shape, callOf(shape, 'l')))} as postback_id, ${words.time(timeOf(shape, 'l'))} as created_at
from ${ledgerFacts(words, source)} f`
}

/** `source` gives the numbers of the inbox's rows as column `i`. */
export function selectInbox(shape: Shape, source: string): string {
  const { words, rows } = shape
  const forged = `kind = 'bad_signature'`
  const network = `case when kind = 'ignored' then '${RARE_NETWORK}' else network end`
  const user = `case when ghost = 1 then ${words.concat("'ghost-'", 'i')} else ${userOf(words)} end`
  const tx = `case when ghost = 1 then ${words.concat("'gone-'", 'i')} else tx end`
  const unlessForged = (value: string): string => `case when ${forged} then null else ${value} end`
  const url = words.concat(
    "'/postback/'",
    network,
    "'?tx='",
    tx,
    "'&user='",
    user,
    `'&reward=${REWARD}&status=1&event=ev_'`,
    'i',
    "'&hash='",
    ...[11, 13, 17, 19].map((factor) => words.hex(`(i * ${factor * 1_000_003} % 4294967296)`, 16)),
  )
  return `select ${words.uuid(idDigits(shape, 'i'))} as id, ${network} as network,
  ${words.time(timeOf(shape, 'i'))} as received_at, 'GET' as method, ${words.bytes(url)} as url,
  '{"user-agent":"Mozilla/5.0 (compatible; PostbackSender/2.1; +https://network.example/postbacks)"}' as headers,
  ${words.bytes("''")} as body, ${words.concat("'203.0.113.'", 'i % 8')} as ip, kind as outcome,
  case when ${forged} then 'signature_mismatch' end as reason,
  case when ${forged} then ${words.flag(false)} else ${words.flag(true)} end as verified, ${words.flag(false)} as test,
  ${unlessForged(tx)} as transaction_id, ${unlessForged(network)} as id_space, ${unlessForged(tx)} as transaction_key,
  ${unlessForged(`case when kind in ('reversed', 'already_reversed') then 'reversal' else 'credit' end`)} as entry,
  ${unlessForged(user)} as user_id, ${unlessForged(words.coins(String(REWARD)))} as amount,
  case when ${forged} then 403 when kind = 'unknown_user' then 500 else 200 end as answer_status, 'OK' as answer_body,
  3 + i % 9 as milliseconds,
  case when kind in ('unknown_user', 'held') then ${words.flag(true)}
    when kind = 'conflict' and b % 20 = 0 then ${words.flag(true)} else ${words.flag(false)} end as open,
  case when kind = 'conflict' and b % 20 <> 0 then 'asked the network' end as resolved_reason
from (
  select f.*, case when i = ${Math.floor(rows / 2)} then 'ignored' when i = ${Math.floor(rows / 3)} then 'held'
    when j < ${BOOKED} then case when s = ${CYCLE - 1} then 'reversed' else 'credited' end
    when j = 98 then 'unknown_user' when j = 99 and b % 10 = 0 then 'conflict'
    when j = 99 and i > ${rows - Math.floor((rows * FORGED_DAYS) / SPAN_DAYS)} then 'bad_signature'
    when s = ${CYCLE - 1} then 'already_reversed' else 'duplicate' end as kind,
    case when i in (${Math.floor(rows / 2)}, ${Math.floor(rows / 3)}) or (j = 98 and b % 5 = 0) then 1 else 0 end as ghost
  from ${ledgerFacts(words, entriesOfCalls(shape, source))} f
  ${words.fence}
) c`
}

/** Users and balances of all wallets after `rows` entries; `source` gives the numbers from 1 to WALLETS as `w`. */
export function selectWallets({ words, rows }: Shape, source: string): string {
  const others = rows - Math.floor(rows / 20)
  // Wallet w is the (w - 2) / STRIDE-th modulo OTHERS of its round: the inverse of STRIDE turns that around.
  const place = `((w + ${OTHERS - 2}) % ${OTHERS} * ${inverse(STRIDE, OTHERS)} % ${OTHERS})`
  const entries = `case when w = 1 then ${Math.floor(rows / 20)}
    else ${Math.floor(others / OTHERS)} + case when ${place} < ${others % OTHERS} then 1 else 0 end end`
  return `select ${words.concat("'user-'", words.padded('w', 5))} as user_id,
  ${words.coins(`case when k = 0 then 0 else ${balanceAfter(words)} end`)} as balance
from (select w, k, (k + ${CYCLE - 1}) % ${CYCLE} as s from (select w, ${entries} as k from ${source} n ${words.fence}) e ${words.fence}) e`
}

/**
 * Of each number `l`: the wallet, the how-manieth entry of that wallet it is (`k`, and `s` within its cycle), network
 * and transaction id. A reversal has those of the entry that it takes back.
 */
function ledgerFacts({ div, hex, concat, fence }: Words, source: string): string {
  const wallet = `select n.*, l - ${div('l', 20)} - 1 as m from ${source} n ${fence}`
  const turn = `select w.*, case when l % 20 = 0 then 1 else 2 + m * ${STRIDE} % ${OTHERS} end as wallet,
      case when l % 20 = 0 then ${div('l', 20)} else ${div('m', OTHERS)} + 1 end as k,
      case when l % 20 = 0 then l - 20 else m - ${OTHERS} + 1 + ${div(`(m - ${OTHERS})`, 19)} end as before_it
    from (${wallet}) w ${fence}`
  const step = `select t.*, (k - 1) % ${CYCLE} as s,
      case when (k - 1) % ${CYCLE} = ${CYCLE - 1} then before_it else l end as t
    from (${turn}) t ${fence}`
  const share = `select s.*, t * 2654435761 % 4294967296 % 1000 as share from (${step}) s ${fence}`
  let sum = 0
  const cases = NETWORKS.map(([name, share]) => `when share < ${(sum += share)} then '${name}'`)
  const network = `select s.*, case ${cases.join(' ')} end as network from (${share}) s ${fence}`
  const looksRandom = NETWORKS.filter((_, index) => index % 2 === 0).map(([name]) => `'${name}'`)
  return `(
    select f.*, case when network in (${looksRandom.join(', ')})
      then ${concat(hex('(t * 2654435761 % 4294967296)', 8), hex('(t * 3266489917 % 4294967296)', 8))}
      else ${concat("'tx-'", 't')} end as tx
    from (${network}) f ${fence}
  )`
}

/** The ledger's row that each call is about, beside its place `j` in its hundred `b`. */
function entriesOfCalls({ words, rows }: Shape, source: string): string {
  const first = lastGone(rows)
  const row = `case when j < ${BOOKED} then ${first} + ${BOOKED} * b + j + 1
    when j = 98 then ${first} + ${BOOKED} * b + 150 else ${first} + ${BOOKED} * b + (j - ${BOOKED}) * 10 + 1 end`
  return `(
    select i, b, j, case when ${row} > ${rows} then ${rows} else ${row} end as l
    from (select i, ${words.div('(i - 1)', 100)} as b, (i - 1) % 100 as j from ${source} n ${words.fence}) n
    ${words.fence}
  )`
}

/** The call that booked an entry; one before the first call where it is gone from the inbox. */
function callOf({ words, rows }: Shape, row: string): string {
  const place = `(${row} - ${lastGone(rows)} - 1)`
  return `(case when ${place} >= 0 then 100 * ${words.div(place, BOOKED)} + ${place} % ${BOOKED} + 1 else ${place} end)`
}

/** The last entry whose call is gone. */
function lastGone(rows: number): number {
  return rows - BOOKED * Math.floor(rows / 100) - Math.min(rows % 100, BOOKED)
}

function userOf({ concat, padded }: Words): string {
  return concat("'user-'", padded('wallet', 5))
}

/** Whole coins after the k-th entry: each full cycle leaves all its credits but the one that was taken back. */
function balanceAfter({ div }: Words): string {
  return `(${div('(k - 1)', CYCLE)} * ${(CYCLE - 2) * REWARD}
    + case when s = ${CYCLE - 1} then ${(CYCLE - 2) * REWARD} else (s + 1) * ${REWARD} end)`
}

function timeOf({ rows, newest }: Shape, row: string): string {
  const step = Math.max(1, Math.floor((SPAN_DAYS * DAY_MS) / rows))
  return `(${newest - rows * step} + ${row} * ${step})`
}

/** A UUID of version 7: the time, then digits that tell rows of one millisecond apart. */
function idDigits(shape: Shape, row: string): string {
  const { concat, hex } = shape.words
  const positive = `(${row} + ${shape.rows})`
  return concat(
    hex(timeOf(shape, row), 12),
    "'7'",
    hex(`(${positive} % 4096)`, 3),
    "'8'",
    hex(`(${positive} * 40503 % 268435456)`, 15),
  )
}

/** The number that times `value` leaves 1, modulo `modulus`. */
function inverse(value: number, modulus: number): number {
  for (let candidate = 1; candidate < modulus; candidate += 1) {
    if ((value * candidate) % modulus === 1) return candidate
  }
  throw new RangeError(`${value} has no inverse modulo ${modulus}.`)
}
