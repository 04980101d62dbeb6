/**
 * Names of our tables, with prefix, schema and quotes put on in one place.
 *
 * @module
 */
import { PaidonceError } from '../errors.js'

export type OurTable =
  'ledger' | 'wallets' | 'postbacks' | 'outbox' | 'settings' | 'migrations' | 'v_entries' | 'v_postbacks'

/** Quoted and qualified names for one dialect. */
export interface TableNames {
  readonly prefix: string
  readonly schema: string | undefined
  /** `"paidonce_ledger"`, or `"app"."paidonce_ledger"` with a schema. */
  table(name: OurTable): string
  /** A quoted name with our prefix and without the schema, for indexes and constraints. */
  index(name: string): string
  quote(name: string): string
}

const PREFIX = /^[A-Za-z_][A-Za-z0-9_]{0,30}$/

/** @throws PaidonceError `config_invalid` where the prefix is no plain name. */
export function tableNames(
  quoteCharacter: '"' | '`',
  tables: { readonly prefix?: string; readonly schema?: string } = {},
): TableNames {
  const prefix = tables.prefix ?? 'paidonce_'
  if (!PREFIX.test(prefix)) {
    throw new PaidonceError('config_invalid', `tables.prefix is ${JSON.stringify(prefix)}.`, {
      hint: 'Use letters, digits and underscores, at most 31 of them, not starting with a digit.',
    })
  }
  const quote = (name: string): string =>
    quoteCharacter + name.replaceAll(quoteCharacter, quoteCharacter + quoteCharacter) + quoteCharacter
  const qualify = tables.schema === undefined ? '' : `${quote(tables.schema)}.`
  return Object.freeze({
    prefix,
    schema: tables.schema,
    table: (name: OurTable) => qualify + quote(prefix + name),
    index: (name: string) => quote(prefix + name),
    quote,
  })
}
