/**
 * Checks a call's signature: message, digest, encoding, compared in constant time.
 *
 * @module
 */
import { createHash, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { Settled } from '../outcome.js'
import { compileDigest } from './digest.js'
import { valueOf, type Call, type FieldPlan } from './fields.js'
import { presentableText } from './free-text.js'
import { compileMessage, isMessageFault, SECRET } from './message.js'
import type { DigestName, SignatureEncoding, SignatureSpec } from './profile.js'

/** Tells why a call is not verified, or null where its signature is right. */
export type SignatureCheck = (call: Call) => Settled | null

/**
 * Prepares the check of one network. Several secrets are valid at once, so that a secret can be changed
 * without losing the calls that are on their way.
 */
export function compileSignature(
  spec: SignatureSpec | null,
  plan: FieldPlan,
  secrets: readonly KeyObject[],
  publicUrl: string | null,
): SignatureCheck {
  if (spec === null) return () => null
  if ('token' in spec) return compileToken(plan, secrets)
  const buildMessage = compileMessage(spec.message, plan, publicUrl)
  const digests = secrets.map((key) => compileDigest(spec.digest, key.export()))
  const size = DIGEST_BYTES['hmac' in spec.digest ? spec.digest.hmac : spec.digest.hash]
  return (call) => {
    const given = givenSignature(call, plan)
    if ('outcome' in given) return given
    const message = buildMessage(call)
    if (isMessageFault(message)) return messageFault(message)
    const digest = decodeSignature(given.text, spec.prefix, spec.encoding, size)
    if (digest === null) return badSignature('signature_not_readable')
    // Every key is tried, so that the time does not tell which of them a call was signed with.
    let matches = false
    for (const digestOf of digests) if (timingSafeEqual(digest, digestOf(message))) matches = true
    return matches ? null : badSignature('signature_mismatch')
  }
}

/** What was signed, as an operator may see it: the secret is never part of it. */
export function signedText(
  spec: SignatureSpec | null,
  call: Call,
  plan: FieldPlan,
  publicUrl: string | null,
): string | null {
  if (spec === null || 'token' in spec) return null
  const message = compileMessage(spec.message, plan, publicUrl)(call)
  if (isMessageFault(message)) return null
  return message
    .map((part) => {
      if (part === SECRET) return '{secret}'
      return presentableText(typeof part === 'string' ? part : part.toString('utf8'), Number.MAX_SAFE_INTEGER)
    })
    .join('')
}

const DIGEST_BYTES: Readonly<Record<DigestName, number>> = { md5: 16, sha1: 20, sha256: 32 }

/**
 * Reads a digest, or returns null where the text is none of that size. `Buffer.from` alone would cut a text
 * at its first wrong character and compare what is left.
 */
export function decodeSignature(
  text: string,
  prefix: string,
  encoding: SignatureEncoding,
  size: number,
): Buffer | null {
  if (!text.startsWith(prefix)) return null
  const body = text.slice(prefix.length)
  if (encoding === 'hex') {
    return body.length === size * 2 && /^[0-9a-f]+$/i.test(body) ? Buffer.from(body, 'hex') : null
  }
  // A plus sign that was sent unescaped has been decoded to a space by now.
  const unpadded = body.replaceAll(' ', '+').replace(/={0,2}$/, '')
  const alphabet = encoding === 'base64' ? /^[A-Za-z0-9+/]+$/ : /^[A-Za-z0-9_-]+$/
  const length = Math.ceil((size * 4) / 3)
  return unpadded.length === length && alphabet.test(unpadded) ? Buffer.from(unpadded, encoding) : null
}

function compileToken(plan: FieldPlan, secrets: readonly KeyObject[]): SignatureCheck {
  const digests = secrets.map((key) => sha256(key.export()))
  return (call) => {
    const given = givenSignature(call, plan)
    if ('outcome' in given) return given
    // Digests have one length, so that the comparison does not tell the secret's.
    const digest = sha256(Buffer.from(given.text))
    let matches = false
    for (const expected of digests) if (timingSafeEqual(digest, expected)) matches = true
    return matches ? null : badSignature('token_mismatch')
  }
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}

function givenSignature(call: Call, plan: FieldPlan): Settled | { readonly text: string } {
  const field = plan.byRole.get('signature')
  if (field === undefined) return messageFault({ fault: 'missing_parameter', name: 'signature' })
  if (call.repeated.includes(field.slot)) {
    return messageFault({ fault: 'repeated_parameter', name: field.name })
  }
  const value = valueOf(call, plan, 'signature')
  if (value === null) return messageFault({ fault: 'missing_parameter', name: field.name })
  return { text: value.text ?? '' }
}

function messageFault({ fault, name }: { readonly fault: string; readonly name: string }): Settled {
  if (fault === 'text_after_signature') return badSignature(`${fault}: ${presentableText(name, 100)}`)
  return { outcome: 'malformed', reason: `${fault}: ${presentableText(name, 100)}` }
}

function badSignature(reason: string): Settled {
  return { outcome: 'bad_signature', reason }
}
