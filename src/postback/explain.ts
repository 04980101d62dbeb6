/**
 * Shows what was signed, for the person who looks for the reason of a wrong signature.
 *
 * @module
 */
import { takeApart } from './fields.js'
import type { Network } from './network.js'
import type { RawRequest } from './raw-request.js'
import { signedText } from './signature.js'

/** The message that a call's signature was compared with, the secret's place marked `{secret}`; null where none can be built. */
export function explainSignature(request: RawRequest, network: Network): string | null {
  const call = takeApart(request, network.fields)
  return signedText(network.profile.signature, call, network.fields, network.publicUrl)
}
