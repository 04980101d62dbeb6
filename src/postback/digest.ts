/**
 * Digests of messages, in one call each: an object for every digest costs three times as much as the digest, most of it
 * paid by the garbage collector.
 *
 * @module
 */
import { hash } from 'node:crypto'
import { SECRET, type Message } from './message.js'
import type { DigestName, DigestSpec } from './profile.js'

/** The digest of a message; `secret` is the key of an HMAC and fills the place that a message keeps for it. */
export type Digest = (message: Message) => Buffer

/** HMAC's block of the three digests, in bytes (RFC 2104, section 2). */
const BLOCK_BYTES = 64

/** Prepares the digest of one secret. */
export function compileDigest(spec: DigestSpec, secret: Buffer): Digest {
  if ('hash' in spec) return (message) => digest(spec.hash, bytesOf(message, secret))
  const inner = padded(spec.hmac, secret, 0x36)
  const outer = padded(spec.hmac, secret, 0x5c)
  return (message) => {
    const inside = digest(spec.hmac, Buffer.concat([inner, bytesOf(message, secret)]))
    return digest(spec.hmac, Buffer.concat([outer, inside]))
  }
}

/** The key of a block's length, with every byte changed by `pad`; a longer key is its digest (RFC 2104, section 2). */
function padded(name: DigestName, secret: Buffer, pad: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES)
  const key = secret.length > BLOCK_BYTES ? digest(name, secret) : secret
  key.copy(block)
  return block.map((byte) => byte ^ pad) as Buffer
}

function digest(name: DigestName, bytes: Buffer): Buffer {
  // As text first: the function makes its buffers outside the pool, which costs more than to read the text back.
  return Buffer.from(hash(name, bytes, 'hex'), 'hex')
}

function bytesOf(message: Message, secret: Buffer): Buffer {
  const [only] = message
  if (message.length === 1 && typeof only === 'object') return only
  return Buffer.concat(
    message.map((part) => (part === SECRET ? secret : typeof part === 'string' ? Buffer.from(part) : part)),
  )
}
