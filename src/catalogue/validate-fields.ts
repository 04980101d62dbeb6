/**
 * Checks the fields of a profile.
 *
 * @module
 */
import {
  configFault,
  expectFields,
  expectFlag,
  expectText,
  isFields,
  listed,
} from '../postback/config-fault.js'
import { UNIT, type FieldSource, type FieldSpec } from '../postback/profile.js'

const SOURCES = ['query', 'form', 'parameter', 'json', 'header'] as const
const REQUIRED = ['transactionId', 'user', 'amount']

export type ProfileFields = Readonly<Record<string, FieldSpec>>

/** The fields by role. */
export function readFields(value: unknown, key: string): ProfileFields {
  if (!isFields(value)) throw configFault(key, value, 'an object of fields by role')
  const fields: Record<string, FieldSpec> = {}
  for (const [role, field] of Object.entries(value)) {
    if (!/^[a-z][A-Za-z0-9]*$/.test(role) || role === 'secret') {
      throw configFault(`${key}.${role}`, role, 'a role such as "transactionId"; "secret" is taken')
    }
    fields[role] = readField(field, `${key}.${role}`, role)
  }
  for (const role of REQUIRED) {
    if (fields[role] === undefined) throw configFault(`${key}.${role}`, undefined, 'where it is found')
  }
  return fields
}

/** A role that some other part of the profile names. */
export function expectRole(value: unknown, key: string, fields: ProfileFields): string {
  const role = expectText(value, key)
  if (!Object.hasOwn(fields, role))
    throw configFault(key, role, `a role of the fields: ${listed(Object.keys(fields))}`)
  return role
}

function readField(value: unknown, key: string, role: string): FieldSpec {
  if (isFields(value) && 'path' in value) {
    throw configFault(
      `${key}.path`,
      value['path'],
      `${listed(SOURCES)}; a path segment is not supported in this version`,
    )
  }
  if (isFields(value) && 'fixed' in value) {
    throw configFault(
      `${key}.fixed`,
      value['fixed'],
      'a field of the call; a fixed amount is not supported in this version',
    )
  }
  const given = expectFields(value, key, [...SOURCES, 'optional', 'default', 'unit'])
  const named = SOURCES.filter((source) => given[source] !== undefined)
  const [source] = named
  if (source === undefined || named.length > 1)
    throw configFault(key, value, `exactly one of ${listed(SOURCES)}`)
  const name = expectText(given[source], `${key}.${source}`)
  if (given['unit'] !== undefined && role !== 'amount') {
    throw configFault(`${key}.unit`, given['unit'], 'a unit for the amount alone')
  }
  return {
    ...readSource(source, name),
    ...(given['optional'] === undefined
      ? {}
      : { optional: expectFlag(given['optional'], `${key}.optional`) }),
    ...(given['default'] === undefined
      ? {}
      : { default: readDefault(given['default'], `${key}.default`, role) }),
    ...(role === 'amount' ? { unit: readUnit(given['unit'], `${key}.unit`) } : {}),
  }
}

function readSource(source: (typeof SOURCES)[number], name: string): FieldSource {
  switch (source) {
    case 'query':
      return { query: name }
    case 'form':
      return { form: name }
    case 'parameter':
      return { parameter: name }
    case 'json':
      return { json: name }
    case 'header':
      return { header: name.toLowerCase() }
  }
}

/** A default for an id or an amount would pay for calls that name none. */
function readDefault(value: unknown, key: string, role: string): string {
  const text = expectText(value, key)
  if ([...REQUIRED, 'eventId', 'signature'].includes(role))
    throw configFault(key, text, `no default for "${role}"`)
  return text
}

function readUnit(value: unknown, key: string): string {
  if (value === undefined) return 'coins'
  const unit = expectText(value, key)
  if (!UNIT.test(unit)) {
    throw configFault(
      key,
      unit,
      '"coins", "minor", a currency such as "usd" or its hundredth such as "usd-cents"',
    )
  }
  return unit
}
