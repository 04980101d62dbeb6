/**
 * Looks up what the ledger holds for the claims of a group.
 *
 * @module
 */
import { keyOf, pairOf, type GroupMember } from '../../ledger/group.js'
import type { StoredEntry, StoredPair } from '../../ledger/types.js'
import { arrayText } from './columns.js'
import type { GroupStatements } from './group-statements.js'
import { need, readStored } from './rows.js'
import type { Session } from './session.js'

export async function readStoredPairs(
  session: Session,
  { read }: GroupStatements,
  members: readonly GroupMember[],
  scale: number,
): Promise<ReadonlyMap<string, StoredPair>> {
  const claims = members.map(({ leader }) => leader.claim).filter((claim) => claim !== null)
  if (claims.length === 0) return new Map()
  const rows = await session.run('read', read, [
    arrayText(claims, ({ idSpace }) => idSpace),
    arrayText(claims, ({ transactionKey }) => transactionKey),
  ])
  const found = new Map<string, StoredEntry[]>()
  for (const row of rows) {
    const key = keyOf({ idSpace: need(row, 'id_space'), transactionKey: need(row, 'transaction_key') })
    found.set(key, [...(found.get(key) ?? []), readStored(row, scale)])
  }
  return new Map([...found].map(([key, entries]) => [key, pairOf(entries)]))
}
