/**
 * Builds the message that a network signs, from the call as it was received.
 *
 * @module
 */
import { compareBytes } from '../ids.js'
import type { Call, FieldPlan } from './fields.js'
import type { MessageSpec, SortedPairs } from './profile.js'
import { bytesOf, decodeValue, type Parameter, type Received } from './query.js'
import { queryOf } from './raw-request.js'

/** Stands for the secret inside a message, so that a message can be shown without it. */
export const SECRET = Symbol('secret')

/** Text is UTF-8; what is not UTF-8 is a buffer. */
export type MessagePart = string | Buffer | typeof SECRET
export type Message = readonly MessagePart[]

/** Why a message cannot be built; the call is then unverified. */
export interface MessageFault {
  readonly fault:
    | 'missing_parameter'
    | 'repeated_parameter'
    | 'not_a_value'
    | 'ambiguous_parameter'
    | 'text_after_signature'
  /** The parameter's name on the wire. */
  readonly name: string
}

export type MessageBuilder = (call: Call) => Message | MessageFault

export function isMessageFault(message: Message | MessageFault): message is MessageFault {
  return 'fault' in message
}

/**
 * Prepares a profile's message for one network.
 *
 * @param publicUrl what the network was given: an origin, or the whole address without its query. Only
 * messages that sign the URL need it, because TLS ends before us and the proxy may have changed the path.
 */
export function compileMessage(spec: MessageSpec, plan: FieldPlan, publicUrl: string | null): MessageBuilder {
  if ('template' in spec) return compileTemplate(spec.template, spec.values, plan)
  if ('sortedPairs' in spec) return compileSortedPairs(spec.sortedPairs, plan)
  if ('body' in spec) return (call) => [call.request.body]
  if ('url' in spec) {
    const name = nameOf(plan, spec.url.without)
    return (call) => [wire(addressOf(call, publicUrl) + prefixed('?', withoutParameter(call, name)))]
  }
  if ('without' in spec.query) {
    const name = nameOf(plan, spec.query.without)
    return (call) => [wire(withoutParameter(call, name))]
  }
  const name = nameOf(plan, spec.query.before)
  const after = new Set(spec.query.after.map((role) => nameOf(plan, role)))
  return (call) => queryBefore(call, name, after)
}

/** The parts of a template: literal text, and roles in braces. */
export function templateParts(
  template: string,
): readonly { readonly literal: string; readonly role: string | null }[] {
  const parts: { literal: string; role: string | null }[] = []
  let at = 0
  for (const match of template.matchAll(/\{([^{}]*)\}/g)) {
    parts.push({ literal: template.slice(at, match.index), role: match[1] ?? '' })
    at = match.index + match[0].length
  }
  if (at < template.length) parts.push({ literal: template.slice(at), role: null })
  return parts
}

function compileTemplate(template: string, values: 'received' | 'raw', plan: FieldPlan): MessageBuilder {
  const parts = templateParts(template)
  return (call) => {
    const message: MessagePart[] = []
    // Text is gathered first: one update of a digest costs more than joining five short texts.
    let text = ''
    for (const { literal, role } of parts) {
      text += literal
      if (role === null) continue
      const part = role === 'secret' ? SECRET : templateValue(call, plan, role, values)
      if (typeof part === 'string') text += part
      else if (typeof part === 'object' && 'fault' in part) return part
      else {
        message.push(text, part)
        text = ''
      }
    }
    message.push(text)
    return message
  }
}

function templateValue(
  call: Call,
  plan: FieldPlan,
  role: string,
  values: 'received' | 'raw',
): string | Buffer | MessageFault {
  const field = plan.byRole.get(role)
  if (field === undefined) return { fault: 'missing_parameter', name: role }
  const { slot, name } = field
  if (call.repeated.includes(slot)) return { fault: 'repeated_parameter', name }
  if (call.structured.includes(slot)) return { fault: 'not_a_value', name }
  const value = call.values[slot] ?? null
  if (value !== null) return values === 'raw' ? wire(value.raw) : decoded(value)
  return field.spec.optional === true ? '' : { fault: 'missing_parameter', name }
}

/**
 * All parameters of query and form, sorted by name. Pairs that are joined without being encoded again can be
 * read in two ways (`offer=x&user=u2` may be one value or two pairs), so a value that contains a known
 * field's pair is refused: nothing but a forgery looks like that.
 */
function compileSortedPairs(spec: SortedPairs, plan: FieldPlan): MessageBuilder {
  const leftOut = new Set(spec.without.map((role) => nameOf(plan, role)))
  const known = [...plan.parameters.keys()].map((name) => spec.pair + name + spec.keyValue)
  return (call) => {
    const parameters = [...call.queryParameters, ...call.formParameters].filter(
      ({ name }) => name === null || !leftOut.has(name),
    )
    const pairs = parameters
      .map((parameter) => ({ sortBy: parameter.name ?? parameter.rawName, parameter }))
      .sort((a, b) => compareBytes(a.sortBy, b.sortBy))
    const message: MessagePart[] = []
    let previous: string | null = null
    for (const { sortBy, parameter } of pairs) {
      if (sortBy === previous) return { fault: 'repeated_parameter', name: sortBy }
      const value = decodeValue(parameter.rawValue)
      if (spec.values === 'decoded' && holdsPair(value, known)) {
        return { fault: 'ambiguous_parameter', name: sortBy }
      }
      const name = spec.values === 'raw' ? wire(parameter.rawName) : decodedName(parameter)
      message.push(previous === null ? '' : spec.pair, name, spec.keyValue)
      message.push(spec.values === 'raw' ? wire(parameter.rawValue) : decoded(value))
      previous = sortBy
    }
    return message
  }
}

function holdsPair(value: Received, known: readonly string[]): boolean {
  const text = value.text ?? bytesOf(value).toString('latin1')
  return known.some((pair) => text.includes(pair))
}

function queryBefore(call: Call, name: string, after: ReadonlySet<string>): Message | MessageFault {
  const { query, queryParameters } = call
  const index = queryParameters.findIndex((parameter) => parameter.name === name)
  const signature = queryParameters[index]
  if (signature === undefined) return [wire(query)]
  for (const parameter of queryParameters.slice(index + 1)) {
    if (parameter.name === name) return { fault: 'repeated_parameter', name }
    if (parameter.name === null || !after.has(parameter.name)) {
      return { fault: 'text_after_signature', name: parameter.name ?? parameter.rawName }
    }
  }
  return [wire(query.slice(0, Math.max(0, signature.start - 1)))]
}

/** The raw query without every pair of that name, the other bytes untouched. */
function withoutParameter(call: Call, name: string): string {
  let { query } = call
  for (const parameter of call.queryParameters.toReversed()) {
    if (parameter.name !== name) continue
    const from = parameter.start === 0 ? 0 : parameter.start - 1
    const to = parameter.start === 0 ? parameter.end + 1 : parameter.end
    query = query.slice(0, from) + query.slice(to)
  }
  return query
}

function addressOf(call: Call, publicUrl: string | null): string {
  const { url } = call.request
  const path = url.slice(0, url.length - prefixed('?', queryOf(url)).length).replace(/\?$/, '')
  if (publicUrl === null) return path
  const isOrigin = /^[a-z]+:\/\/[^/]+\/?$/i.test(publicUrl)
  return isOrigin ? publicUrl.replace(/\/$/, '') + path : publicUrl
}

function prefixed(prefix: string, text: string): string {
  return text === '' ? '' : prefix + text
}

function nameOf(plan: FieldPlan, role: string): string {
  return plan.byRole.get(role)?.name ?? role
}

function decoded(value: Received): string | Buffer {
  return value.text ?? bytesOf(value)
}

function decodedName(parameter: Parameter): string | Buffer {
  return parameter.name ?? bytesOf(decodeValue(parameter.rawName))
}

/** Raw text holds one character a byte. */
function wire(raw: string): Buffer {
  return Buffer.from(raw, 'latin1')
}
