/**
 * The token of the admin API: given by the operator, or generated at the first start. Of a generated one only the hash
 * is kept, in the database, so that every receiver on it accepts the same token.
 *
 * @module
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { LedgerStore } from '../ledger/store.js'

const SETTING = 'admin_token_hash'

/** Made just now, given by the operator, or made at an earlier start. */
export type AdminTokenOrigin = 'generated' | 'given' | 'kept'

export interface AdminToken {
  readonly origin: AdminTokenOrigin
  /** The token itself where it was made just now, to be shown once; else null. */
  readonly generated: string | null
  accepts(presented: string): boolean
}

/**
 * Takes the given token, or the one that the database knows, or makes one. To be called when nothing can stop the start
 * any more: a token that was made and not shown is lost.
 */
export async function claimAdminToken(store: LedgerStore, given: string | null): Promise<AdminToken> {
  if (given !== null) return { origin: 'given', generated: null, accepts: comparedWith(hashOf(given)) }
  const fresh = randomBytes(32).toString('base64url')
  const freshHash = hashOf(fresh)
  // Two receivers that start at once both offer a hash; the database keeps one, and only its maker shows the token.
  const standing = await store.claimSetting(SETTING, freshHash)
  const accepts = comparedWith(standing)
  return standing === freshHash
    ? { origin: 'generated', generated: fresh, accepts }
    : { origin: 'kept', generated: null, accepts }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Hashes have one length, so the comparison takes one time whatever was presented. */
function comparedWith(hash: string): (presented: string) => boolean {
  const expected = Buffer.from(hash)
  return (presented) => {
    const actual = Buffer.from(hashOf(presented))
    return actual.length === expected.length && timingSafeEqual(actual, expected)
  }
}
