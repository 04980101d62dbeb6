/**
 * The calls of a run as a pure function of their place in the file: the same seed gives the same file, and what a
 * prefix of it must leave in the ledger can be counted without reading it.
 *
 * @module
 */
import { createHmac } from 'node:crypto'

export const SECRET = 'a postback key for the benchmark'

/** A copy repeats an earlier credit; a forged call has a hash that is wrong. */
export type CallKind = 'credit' | 'copy' | 'reversal' | 'forged'

export interface CallPlan {
  readonly seed: number
  /** The wallets that the calls go to, by number: from the first to the last. */
  readonly wallets: { readonly first: number; readonly last: number }
  /** With copies, reversals and forged calls between the credits. */
  readonly mixed: boolean
}

export interface Call {
  readonly kind: CallKind
  readonly tx: string
  readonly user: string
  readonly reward: string
  readonly event: string
}

/** 70 % credits, 20 % copies, 5 % reversals, 5 % forged; the first is the credit that a later reversal takes back. */
const MIX = Array.from('CCDCCCFCCDCCRCCDCCDC', kindOfLetter)
const CREDITS = MIX.flatMap((kind, place) => (kind === 'credit' ? [place] : []))

/**
 * How many blocks of the mix lie between an original and what refers to it: 512 calls and more, so that with 64
 * connections the original has been answered long before.
 */
const LAG = 26
/** Copies refer to one of so many blocks. */
const SPAN = 50

export function kindAt(plan: CallPlan, index: number): CallKind {
  if (!plan.mixed) return 'credit'
  const kind = MIX[index % MIX.length] ?? 'credit'
  const refers = kind === 'copy' || kind === 'reversal'
  return refers && index < LAG * MIX.length ? 'credit' : kind
}

export function callAt(plan: CallPlan, index: number): Call {
  const kind = kindAt(plan, index)
  const original = originalOf(plan, kind, index)
  const { first, last } = plan.wallets
  const wallet = first + (random(plan.seed, original, 3) % (last - first + 1))
  return {
    kind,
    tx: hex(random(plan.seed, original, 1)) + hex(random(plan.seed, original, 2)),
    user: userName(wallet),
    reward: String(1 + (random(plan.seed, original, 4) % 500)),
    event: `ev_${index}`,
  }
}

/** The place of the credit that a call is about. */
function originalOf(plan: CallPlan, kind: CallKind, index: number): number {
  if (kind === 'credit' || kind === 'forged') return index
  const block = Math.floor(index / MIX.length)
  if (kind === 'reversal') return (block - LAG) * MIX.length
  const back = LAG + (random(plan.seed, index, 5) % Math.min(SPAN, block - LAG + 1))
  const place = CREDITS[random(plan.seed, index, 6) % CREDITS.length] ?? 0
  return (block - back) * MIX.length + place
}

function kindOfLetter(letter: string): CallKind {
  if (letter === 'D') return 'copy'
  if (letter === 'R') return 'reversal'
  return letter === 'F' ? 'forged' : 'credit'
}

/** How many calls of each kind stand in a part of the file. */
export function countKinds(plan: CallPlan, from: number, to: number): Record<CallKind, number> {
  const counts = { credit: 0, copy: 0, reversal: 0, forged: 0 }
  for (let index = from; index < to; index += 1) counts[kindAt(plan, index)] += 1
  return counts
}

export function userName(wallet: number): string {
  return `user-${String(wallet).padStart(5, '0')}`
}

/** Path and query as the network sends them. */
export function signedPath({ kind, tx, user, reward, event }: Call): string {
  const status = kind === 'reversal' ? '2' : '1'
  const hash = createHmac('sha256', SECRET).update(`${tx}:${user}:${reward}:${status}`).digest('hex')
  const shown = kind === 'forged' ? flipLast(hash) : hash
  return `/postback/sharklio?tx=${tx}&user=${user}&reward=${reward}&status=${status}&event=${event}&hash=${shown}`
}

function flipLast(hash: string): string {
  return hash.slice(0, -1) + (hash.endsWith('0') ? '1' : '0')
}

/** 32 bits that look random, of three integers: two rounds of the finaliser of MurmurHash3. */
function random(seed: number, index: number, purpose: number): number {
  const once = mix(Math.imul(seed, 0x9e3779b1) ^ Math.imul(purpose, 0x85ebca77))
  return mix(once ^ Math.imul(index + 1, 0xc2b2ae3d)) >>> 0
}

function mix(value: number): number {
  let bits = value ^ (value >>> 16)
  bits = Math.imul(bits, 0x85ebca6b)
  bits ^= bits >>> 13
  bits = Math.imul(bits, 0xc2b2ae35)
  return bits ^ (bits >>> 16)
}

function hex(bits: number): string {
  return bits.toString(16).padStart(8, '0')
}
