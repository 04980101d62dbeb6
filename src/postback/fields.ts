/**
 * Finds the value of each role in one call.
 *
 * @module
 */
import { findInJson, readJson } from './json.js'
import { wireName, type FieldSpec } from './profile.js'
import { decodeValue, receivedBytes, splitParameters, type Parameter, type Received } from './query.js'
import { queryOf, type RawRequest } from './raw-request.js'

/** One role and where it is found; `slot` is its place in every call's list of values. */
export interface PlannedField {
  readonly role: string
  readonly name: string
  readonly spec: FieldSpec
  readonly slot: number
}

/** The fields of a network, arranged once so that a call is read in one pass. */
export interface FieldPlan {
  readonly fields: readonly PlannedField[]
  readonly byRole: ReadonlyMap<string, PlannedField>
  readonly parameters: ReadonlyMap<string, PlannedField>
  readonly headers: readonly PlannedField[]
  readonly json: readonly { readonly field: PlannedField; readonly path: readonly string[] }[]
  /** Whether a body is read as a form; not where it is JSON. */
  readonly readsForm: boolean
}

/** A call taken apart. */
export interface Call {
  readonly request: RawRequest
  readonly query: string
  readonly queryParameters: readonly Parameter[]
  readonly formParameters: readonly Parameter[]
  /** By slot; null where the call holds no such value. */
  readonly values: readonly (Received | null)[]
  /** Slots of values that came more than once, in the order of their discovery. */
  readonly repeated: readonly number[]
  /** Slots where a single value was expected and a list or an object stood. */
  readonly structured: readonly number[]
  /** The profile expects JSON, and the body is none. */
  readonly unreadable: boolean
}

/** Arranges the fields of a profile. */
export function planFields(fields: Readonly<Record<string, FieldSpec>>): FieldPlan {
  const planned = Object.entries(fields).map(([role, spec], slot): PlannedField => ({
    role,
    name: wireName(spec),
    spec,
    slot,
  }))
  const parameters = planned.filter(({ spec }) => 'query' in spec || 'form' in spec || 'parameter' in spec)
  const json = planned.filter(({ spec }) => 'json' in spec)
  return {
    fields: planned,
    byRole: new Map(planned.map((field) => [field.role, field])),
    parameters: new Map(parameters.map((field) => [field.name, field])),
    headers: planned.filter(({ spec }) => 'header' in spec),
    json: json.map((field) => ({ field, path: field.name.split('.') })),
    readsForm: json.length === 0,
  }
}

/** Takes one call apart by a network's plan. */
export function takeApart(request: RawRequest, plan: FieldPlan): Call {
  const query = queryOf(request.url)
  const queryParameters = splitParameters(query)
  const hasForm = plan.readsForm && request.method !== 'GET' && request.body.length > 0
  const formParameters = hasForm ? splitParameters(request.body.toString('latin1')) : []
  const findings = new Findings(plan.fields.length)
  for (const parameter of queryParameters) takeParameter(findings, plan, parameter, 'form')
  for (const parameter of formParameters) takeParameter(findings, plan, parameter, 'query')
  for (const field of plan.headers) takeHeader(findings, field, request)
  const document = plan.json.length > 0 ? readJson(request.body) : null
  if (document !== null) {
    for (const { field, path } of plan.json) {
      const found = findInJson(document, path)
      if (found === 'repeated') findings.repeat(field.slot)
      else if (found === 'structure') findings.structured.push(field.slot)
      else if (found !== 'absent') findings.take(field.slot, found)
    }
  }
  return {
    request,
    query,
    queryParameters,
    formParameters,
    values: findings.values,
    repeated: findings.repeated,
    structured: findings.structured,
    unreadable: plan.json.length > 0 && document === null,
  }
}

/** The value of a role as received; undefined roles, absent values: null. */
export function valueOf(call: Call, plan: FieldPlan, role: string): Received | null {
  const field = plan.byRole.get(role)
  return field === undefined ? null : (call.values[field.slot] ?? null)
}

class Findings {
  readonly values: (Received | null)[]
  readonly repeated: number[] = []
  readonly structured: number[] = []
  readonly #seen: boolean[]

  constructor(size: number) {
    this.values = new Array<Received | null>(size).fill(null)
    this.#seen = new Array<boolean>(size).fill(false)
  }

  /** Counts a name that stands where the profile does not look: a second one must not hide behind it. */
  notice(slot: number): void {
    if (this.#seen[slot] === true) this.repeat(slot)
    this.#seen[slot] = true
  }

  take(slot: number, value: Received): void {
    this.notice(slot)
    this.values[slot] ??= value
  }

  repeat(slot: number): void {
    if (!this.repeated.includes(slot)) this.repeated.push(slot)
  }
}

function takeParameter(
  findings: Findings,
  plan: FieldPlan,
  parameter: Parameter,
  elsewhere: 'query' | 'form',
): void {
  if (parameter.name === null) return
  const field = plan.parameters.get(parameter.name)
  if (field === undefined) return
  if (elsewhere in field.spec) findings.notice(field.slot)
  else findings.take(field.slot, decodeValue(parameter.rawValue))
}

function takeHeader(findings: Findings, field: PlannedField, request: RawRequest): void {
  const header = request.headers[field.name]
  if (header === undefined) return
  const values = typeof header === 'string' ? [header] : header
  for (const value of values) findings.take(field.slot, receivedBytes(value, Buffer.from(value, 'latin1')))
}
