/**
 * Values as SQL text. A group is hundreds of values, and the driver takes longer to put them into their places than the
 * server takes to read them.
 *
 * @module
 */
import { StoreError } from '../../errors.js'
import { decimal, flag, rawBytes } from './rows.js'

/** ASCII without controls, quote and backslash: it stands for itself in every character set and SQL mode. */
const PLAIN = /^[\x20-\x26\x28-\x5b\x5d-\x7e]*$/

export const NULL = 'null'

/** The UTF-8 bytes of a text; whatever is not plain goes as hexadecimal digits, which nothing can misread. */
export function textLiteral(text: string): string {
  if (typeof text !== 'string') {
    throw new StoreError('refused', `The store was given a value of type ${typeof text} where text belongs.`)
  }
  return PLAIN.test(text) ? `'${text}'` : `x'${Buffer.from(text).toString('hex')}'`
}

export function optionalText(text: string | null): string {
  return text === null ? NULL : textLiteral(text)
}

export function bytesLiteral(raw: Buffer): string {
  const text = rawBytes(raw).toString('latin1')
  return PLAIN.test(text) ? `'${text}'` : `x'${raw.toString('hex')}'`
}

export function decimalLiteral(minor: bigint, scale: number): string {
  return decimal(minor, scale)
}

export function optionalDecimal(minor: bigint | null, scale: number): string {
  return minor === null ? NULL : decimal(minor, scale)
}

export function flagLiteral(value: boolean): string {
  return flag(value) === 1 ? '1' : '0'
}

export function numberLiteral(value: number): string {
  if (!Number.isSafeInteger(value)) {
    throw new StoreError(
      'refused',
      `The number ${String(value)} reached a MySQL statement; nothing was done.`,
    )
  }
  return String(value)
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export function uuidLiteral(text: string): string {
  if (!UUID.test(text)) {
    throw new StoreError('refused', `The postback id ${JSON.stringify(text)} is no UUID.`)
  }
  return `x'${text.replaceAll('-', '')}'`
}

/** One column of a table that is written by whole rows. */
export interface Column<Row> {
  readonly name: string
  /** The value as SQL text. */
  readonly literal: (row: Row, scale: number) => string
  /** What the table puts where nothing is given, as SQL text. Default: NULL. */
  readonly unless?: string
}

/** An INSERT of at least one row. A column that has its default in every row is not named, because most columns have. */
export function insertRows<Row>(
  table: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  scale: number,
): string {
  const names: string[] = []
  const tuples: string[] = rows.map(() => '')
  for (const { name, literal, unless = NULL } of columns) {
    const values = rows.map((row) => literal(row, scale))
    if (values.every((value) => value === unless)) continue
    const separator = names.push(name) === 1 ? '(' : ','
    values.forEach((value, index) => {
      tuples[index] = (tuples[index] ?? '') + separator + value
    })
  }
  return `insert into ${table} (${names.join(', ')})\nvalues ${tuples.join('),')})`
}
