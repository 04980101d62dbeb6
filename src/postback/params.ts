/**
 * Renames the parameters whose names the publisher chose at the network.
 *
 * @module
 */
import { configFault, expectText, isFields, unknownKey } from './config-fault.js'
import { wireName, type FieldSpec, type NetworkProfile } from './profile.js'

/**
 * A profile with the configuration's names, in its fields and in the URL to paste.
 *
 * @param params role → parameter name, or undefined.
 */
export function renameFields(profile: NetworkProfile, params: unknown, key: string): NetworkProfile {
  if (params === undefined) return profile
  if (!isFields(params)) throw configFault(key, params, 'an object of parameter names by role')
  const fields: Record<string, FieldSpec> = { ...profile.fields }
  const renamed = new Map<string, string>()
  for (const [role, value] of Object.entries(params)) {
    const field = Object.hasOwn(fields, role) ? fields[role] : undefined
    if (field === undefined) throw unknownKey(key, role, Object.keys(fields))
    const name = expectText(value, `${key}.${role}`)
    if (/[&=#?\s]/.test(name)) throw configFault(`${key}.${role}`, name, 'a parameter name as it is sent')
    renamed.set(wireName(field), name)
    fields[role] = renameField(field, name, `${key}.${role}`)
  }
  checkDistinct(fields, key)
  return { ...profile, fields, urlTemplate: renameInTemplate(profile.urlTemplate, renamed) }
}

/** The address to paste at the network. */
export function pasteUrl(profile: NetworkProfile, base: string): string {
  return profile.urlTemplate === null ? base : `${base}?${profile.urlTemplate}`
}

/** Two roles that read one parameter would make every call of that network ambiguous. */
export function checkDistinct(fields: Readonly<Record<string, FieldSpec>>, key: string): void {
  const seen = new Map<string, string>()
  for (const [role, field] of Object.entries(fields)) {
    const place = 'header' in field ? 'header' : 'json' in field ? 'json' : 'parameter'
    const name = `${place} ${wireName(field)}`
    const other = seen.get(name)
    if (other !== undefined) {
      throw configFault(`${key}.${role}`, wireName(field), `another name than that of "${other}"`)
    }
    seen.set(name, role)
  }
}

function renameField(field: FieldSpec, name: string, key: string): FieldSpec {
  if ('query' in field) return { ...field, query: name }
  if ('form' in field) return { ...field, form: name }
  if ('parameter' in field) return { ...field, parameter: name }
  throw configFault(key, name, 'no entry, because the network fixes this name')
}

function renameInTemplate(template: string | null, renamed: ReadonlyMap<string, string>): string | null {
  if (template === null) return null
  return template
    .split('&')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return [renamed.get(name) ?? name, ...value].join('=')
    })
    .join('&')
}
