/**
 * The ids of a call and its transaction key.
 *
 * @module
 */
import { idFault, KEY_SEPARATOR } from '../ids.js'
import type { PostbackEntry } from '../outcome.js'
import { valueOf, type Call } from './fields.js'
import { presentableText } from './free-text.js'
import type { Network } from './network.js'
import type { ReversalOf } from './profile.js'

export interface IdReadFault {
  /** A stable reason code such as `transaction_id_empty`. */
  readonly fault: string
}

export interface ReadIds {
  readonly transactionId: string
  readonly transactionKey: string
}

/** The transaction id (for a reversal: the id that it takes back) and the key. */
export function readIds(call: Call, network: Network, entry: PostbackEntry): ReadIds | IdReadFault {
  const transaction = entry === 'credit' ? ownId(call, network) : reversedId(call, network)
  if ('fault' in transaction) return transaction
  const { key } = network.profile
  if (key.length === 1 && key[0] === 'transactionId') {
    return { transactionId: transaction.id, transactionKey: transaction.id }
  }
  const parts: string[] = []
  for (const role of key) {
    const part = role === 'transactionId' ? transaction : readKeyPart(call, network, role)
    if ('fault' in part) return part
    parts.push(part.id ?? '')
  }
  return { transactionId: transaction.id, transactionKey: parts.join(KEY_SEPARATOR) }
}

/** A required id. */
export function readId(call: Call, network: Network, role: string): { readonly id: string } | IdReadFault {
  const field = network.fields.byRole.get(role)
  const value = valueOf(call, network.fields, role)
  if (field === undefined || value === null) return { fault: `missing_parameter: ${field?.name ?? role}` }
  if (call.repeated.includes(field.slot)) return { fault: `repeated_parameter: ${field.name}` }
  if (value.text === null) return { fault: `${reasonName(role)}_not_utf8` }
  const fault = idFault(value.text)
  if (fault === null) return { id: value.text }
  const detail = fault === 'unexpanded_macro' ? `: ${presentableText(value.text, 100)}` : ''
  return { fault: `${reasonName(role)}_${fault}${detail}` }
}

/** An id that may be missing; absent and empty are the same. */
export function readOptionalId(
  call: Call,
  network: Network,
  role: string,
): { readonly id: string | null } | IdReadFault {
  const value = valueOf(call, network.fields, role)
  return value === null || value.text === '' ? { id: null } : readId(call, network, role)
}

/** An id for the inbox, or null where the call holds none. */
export function gleanId(call: Call, network: Network, role: string): string | null {
  const read = readOptionalId(call, network, role)
  return 'fault' in read ? null : read.id
}

/** What programs write where they have no id: every such call would look like a copy of the first. */
const PLACEHOLDER = /^(null|undefined|none|nil)$/i

function ownId(call: Call, network: Network): { readonly id: string } | IdReadFault {
  const read = readTransactionId(call, network, 'transactionId')
  if ('fault' in read || network.idPattern === null || network.idPattern.test(read.id)) return read
  return { fault: `transaction_id_pattern: ${presentableText(read.id, 100)}` }
}

function readTransactionId(
  call: Call,
  network: Network,
  role: string,
): { readonly id: string } | IdReadFault {
  const read = readId(call, network, role)
  if ('fault' in read || !PLACEHOLDER.test(read.id)) return read
  return { fault: `${reasonName(role)}_placeholder: ${read.id}` }
}

function reversedId(call: Call, network: Network): { readonly id: string } | IdReadFault {
  const rule: ReversalOf = network.profile.reversalOf
  if (rule.kind === 'field') return readTransactionId(call, network, rule.field)
  const own = ownId(call, network)
  if ('fault' in own || rule.kind === 'same' || !own.id.startsWith(rule.prefix)) return own
  const id = own.id.slice(rule.prefix.length)
  const fault = idFault(id)
  return fault === null ? { id } : { fault: `transaction_id_${fault}` }
}

function readKeyPart(
  call: Call,
  network: Network,
  role: string,
): { readonly id: string | null } | IdReadFault {
  return network.fields.byRole.get(role)?.spec.optional === true
    ? readOptionalId(call, network, role)
    : readTransactionId(call, network, role)
}

/** `transactionId` is `transaction_id` in reason codes. */
function reasonName(role: string): string {
  return role.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
