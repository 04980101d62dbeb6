/**
 * The check that a network's manual shows: the hash is the HMAC-SHA256, in hex, of four parameters joined by colons.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

const secret = process.env.SHARKLIO_POSTBACK_KEY

export function isSigned({ tx, user, reward, status, hash }) {
  if (typeof hash !== 'string') return false
  const expected = createHmac('sha256', secret).update(`${tx}:${user}:${reward}:${status}`).digest('hex')
  return hash.length === expected.length && timingSafeEqual(Buffer.from(hash), Buffer.from(expected))
}
