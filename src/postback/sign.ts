/**
 * Makes a signed call from a profile, the way that network would, for the command line, the drill and tests.
 *
 * @module
 */
import { PaidonceError } from '../errors.js'
import type { PostbackEntry } from '../outcome.js'
import { exampleOf } from './conditions.js'
import { compileDigest } from './digest.js'
import { planFields, takeApart, type FieldPlan } from './fields.js'
import { compileMessage, isMessageFault } from './message.js'
import { renameFields } from './params.js'
import type { NetworkProfile } from './profile.js'

/** What the call should say; amounts are text in the network's own unit. */
export interface CallToSign {
  readonly user: string
  readonly amount: string
  readonly transactionId: string
  readonly entry: PostbackEntry
  readonly eventId?: string
  readonly offer?: string
  readonly payout?: string
  /** Values of further roles. */
  readonly extra?: Readonly<Record<string, string>>
}

export interface SignedCall {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * Builds a signed call.
 *
 * @param base the receiver's address for this network, without a query.
 * @param params parameter names by role, as in the configuration.
 * @throws PaidonceError `usage` where the profile has no such entry or needs a value that was not given.
 */
export function signPostback(
  profile: NetworkProfile,
  secret: string,
  call: CallToSign,
  base: string,
  params?: Readonly<Record<string, string>>,
): SignedCall {
  const renamed = renameFields(profile, params, 'params')
  const plan = planFields(renamed.fields)
  const values = valuesOf(renamed, call)
  const unsigned = buildCall(renamed, plan, values, base)
  const signature = signatureOf(renamed, plan, secret, unsigned, base)
  if (signature === null) return unsigned
  return buildCall(renamed, plan, new Map([...values, ['signature', signature]]), base)
}

/** The values by role; the status is the word that the profile's entry rules want. */
function valuesOf(profile: NetworkProfile, call: CallToSign): Map<string, string> {
  const rule = profile.entry.find(
    ({ is }) => is === call.entry || (is === 'by-sign' && profile.amountSign === 'signed'),
  )
  if (rule === undefined) {
    throw new PaidonceError('usage', `Profile "${profile.id}" has no rule for a ${call.entry}.`)
  }
  const isNegative = call.entry === 'reversal' && profile.amountSign !== 'positive'
  const values = new Map<string, string>([
    ['transactionId', call.transactionId],
    ['user', call.user],
    ['amount', isNegative ? `-${call.amount}` : call.amount],
    ...Object.entries(rule.when).map(([role, condition]) => [role, exampleOf(condition)] as const),
    ...Object.entries(call.extra ?? {}),
  ])
  if (call.eventId !== undefined) values.set('eventId', call.eventId)
  if (call.offer !== undefined) values.set('offer', call.offer)
  if (call.payout !== undefined) values.set('payout', call.payout)
  const { reversalOf } = profile
  if (call.entry === 'reversal' && reversalOf.kind === 'field')
    values.set(reversalOf.field, call.transactionId)
  if (call.entry === 'reversal' && reversalOf.kind === 'stripPrefix') {
    values.set('transactionId', reversalOf.prefix + call.transactionId)
  }
  return values
}

/** Puts every value where the profile looks for it; the signature comes last, as networks send it. */
function buildCall(
  profile: NetworkProfile,
  plan: FieldPlan,
  values: ReadonlyMap<string, string>,
  base: string,
): SignedCall {
  const method = profile.methods[0] ?? 'GET'
  const query: string[] = []
  const form: string[] = []
  const json: Record<string, unknown> = {}
  const headers: Record<string, string> = {}
  const ordered = [...plan.fields].sort(
    (a, b) => Number(a.role === 'signature') - Number(b.role === 'signature'),
  )
  for (const { role, name, spec } of ordered) {
    const value = values.get(role)
    if (value === undefined) {
      if (role !== 'signature' && spec.optional !== true && spec.default === undefined) {
        throw new PaidonceError('usage', `Profile "${profile.id}" needs a value for "${role}".`)
      }
      continue
    }
    const pair = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
    if ('query' in spec) query.push(pair)
    else if ('form' in spec) form.push(pair)
    else if ('parameter' in spec) (method === 'GET' ? query : form).push(pair)
    else if ('header' in spec) headers[name] = value
    else setPath(json, name.split('.'), value)
  }
  const url = query.length === 0 ? base : `${base}?${query.join('&')}`
  if (plan.json.length > 0) {
    return {
      method,
      url,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    }
  }
  if (form.length === 0) return { method, url, headers, body: '' }
  const contentType = 'application/x-www-form-urlencoded'
  return { method, url, headers: { ...headers, 'content-type': contentType }, body: form.join('&') }
}

function setPath(root: Record<string, unknown>, path: readonly string[], value: string): void {
  let current = root
  for (const name of path.slice(0, -1)) {
    const next: Record<string, unknown> = {}
    const existing = current[name]
    current[name] = existing ?? next
    current = (existing ?? next) as Record<string, unknown>
  }
  current[path[path.length - 1] ?? ''] = value
}

function signatureOf(
  profile: NetworkProfile,
  plan: FieldPlan,
  secret: string,
  unsigned: SignedCall,
  base: string,
): string | null {
  const { signature } = profile
  if (signature === null) return null
  if ('token' in signature) return secret
  const request = {
    method: unsigned.method,
    url: unsigned.url.replace(/^[a-z]+:\/\/[^/?]*/i, ''),
    headers: unsigned.headers,
    body: Buffer.from(unsigned.body),
    remoteAddress: '',
  }
  const message = compileMessage(signature.message, plan, base)(takeApart(request, plan))
  if (isMessageFault(message)) {
    throw new PaidonceError('usage', `The call cannot be signed: ${message.fault} "${message.name}".`)
  }
  const digest = compileDigest(signature.digest, Buffer.from(secret))(message)
  return signature.prefix + digest.toString(signature.encoding)
}
