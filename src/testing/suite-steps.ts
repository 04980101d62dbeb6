/**
 * The few steps that the parts of the store suite share.
 *
 * @module
 */
import type { GroupMember, MemberResult } from '../ledger/group.js'
import type { LedgerStore, StoreOptions } from '../ledger/store.js'
import type { Claim } from '../ledger/types.js'
import type { Settled } from '../outcome.js'
import { makeMember } from './claims.js'
import type { OpenSuiteStore, SuiteStore } from './suite-store.js'

/** Runs a test body on a fresh database and always closes it. */
export function onFresh(
  open: OpenSuiteStore,
  body: (suite: SuiteStore) => Promise<void>,
  options: StoreOptions = {},
): () => Promise<void> {
  return async () => {
    const suite = await open(options)
    try {
      await body(suite)
    } finally {
      await suite.close()
    }
  }
}

/** Applies members and starts again when somebody else was first, as the committer does. */
export async function applyMembers(
  store: LedgerStore,
  members: readonly GroupMember[],
  waitMs: number | null = null,
): Promise<readonly MemberResult[]> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const result = await store.applyGroup(members, { waitMs, owns: () => true })
    if (result.kind === 'applied') return result.results
  }
  throw new Error('The group was raced twenty times in a row.')
}

/** Settles one claim alone. */
export async function settleOne(store: LedgerStore, claim: Claim): Promise<Settled> {
  const [result] = await applyMembers(store, [makeMember(claim)])
  if (result?.kind !== 'settled') throw new Error(`The claim was ${String(result?.kind)} and not settled.`)
  return result.leader
}

/** The balance of a wallet that must exist. */
export async function balanceOf(store: LedgerStore, user: string): Promise<bigint> {
  const wallet = await store.readWallet(user)
  if (wallet === null) throw new Error(`There is no wallet of ${user}.`)
  return wallet.balance
}
