/**
 * The inbox of the memory store: what is kept of a row, and its upkeep.
 *
 * @module
 */
import type { PostbackRow } from '../../ledger/postback-row.js'
import { ipText, methodText } from '../call-text.js'
import { ADDRESS_ROWS, firstIdAt, PRUNED_THOUGH_OPEN } from '../inbox-bounds.js'
import { isOpen } from './lists.js'
import type { MemoryState } from './state.js'

/** A row as it is kept: short texts are cut as on a database. */
export function keptRow(row: PostbackRow): PostbackRow {
  return { ...row, ip: ipText(row.ip), method: methodText(row.method) }
}

export function pruneMemoryPostbacks(
  state: MemoryState,
  { verified, before, limit }: { readonly verified: boolean; readonly before: Date; readonly limit: number },
): number {
  const end = firstIdAt(before)
  const old = [...state.postbacks.values()]
    .filter((row) => row.verified === verified && row.id < end && row.receivedAt < before)
    .filter((row) => PRUNED_THOUGH_OPEN.includes(row.outcome) || !isOpen(state, row))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit)
  for (const row of old) state.postbacks.delete(row.id)
  return old.length
}

export function verifiedMemoryAddresses(
  state: MemoryState,
  since: Date,
  limit: number,
): readonly { readonly network: string; readonly ip: string }[] {
  const pairs = new Map(
    [...state.postbacks.values()]
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, ADDRESS_ROWS)
      .filter((row) => row.verified && row.receivedAt >= since)
      .map(({ network, ip }) => [`${network}\u0000${ip}`, { network, ip }]),
  )
  return [...pairs.values()].slice(0, limit)
}
