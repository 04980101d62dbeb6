/**
 * Rows as parameters: one array for each column, in the text form of PostgreSQL's manual, section 8.15 "Arrays".
 *
 * Most columns of a group hold one value in every row, or nothing at all. A value that all rows share is sent once beside
 * an empty array, which `unnest` fills up with NULL as it does with every shorter one. That leaves about 16 arrays of a
 * group of credits, where all 42 would have to be parsed element by element.
 *
 * @module
 */

/** One column of a table that is written by arrays. */
export interface Column<Row> {
  readonly name: string
  readonly type: string
  /** The value as text. */
  readonly value: (row: Row, scale: number) => string | null
}

/** Where the rows of a table come from in a statement. */
export interface RowSource {
  /** An item of FROM, with the given alias. */
  readonly from: string
  /** The columns in their order, as items of SELECT. */
  readonly select: string
  /** How many parameters it takes. */
  readonly parameters: number
}

/** The SQL of `encodeRows`: its parameters are counted from `first`. */
export function rowSource<Row>(columns: readonly Column<Row>[], first: number, alias: string): RowSource {
  const array = (place: number): number => first + 2 * place
  const arrays = columns.map(({ type }, place) => `$${array(place)}::${type}[]`)
  const select = columns.map(
    ({ name, type }, place) => `coalesce(${alias}.${name}, $${array(place) + 1}::${type}) as ${name}`,
  )
  return {
    from: `unnest(${arrays.join(', ')}) as ${alias}(${columns.map(({ name }) => name).join(', ')})`,
    select: select.join(', '),
    parameters: 2 * columns.length,
  }
}

/** The parameters of `rowSource`: for each column an array and the value that all rows share, one of them empty. */
export function encodeRows<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  scale: number,
): (string | null)[] {
  const values: (string | null)[] = []
  // The longest array says how many rows there are, so that the first one is always whole.
  let isWhole = rows.length === 0
  for (const { value } of columns) {
    const valueOf = (row: Row): string | null => value(row, scale)
    if (isWhole && areAlike(rows, valueOf)) values.push('{}', rows[0] === undefined ? null : valueOf(rows[0]))
    else values.push(arrayText(rows, valueOf), null)
    isWhole = true
  }
  return values
}

/** The SQL of `encodeRow`, for one row alone: nothing to unnest, and half of the parameters. */
export function singleSource<Row>(columns: readonly Column<Row>[], first: number, alias: string): RowSource {
  const select = columns.map(({ name, type }, place) => `$${first + place}::${type} as ${name}`)
  return { from: `(select) as ${alias}`, select: select.join(', '), parameters: columns.length }
}

export function encodeRow<Row>(columns: readonly Column<Row>[], row: Row, scale: number): (string | null)[] {
  return columns.map(({ value }) => value(row, scale))
}

function areAlike<Row>(rows: readonly Row[], valueOf: (row: Row) => string | null): boolean {
  const first = rows[0] === undefined ? null : valueOf(rows[0])
  for (let index = 1; index < rows.length; index += 1) {
    if (valueOf(rows[index] as Row) !== first) return false
  }
  return true
}

/** An array of texts. Every element is quoted, so that none of them is read as NULL or as two. */
export function arrayText<Row>(rows: readonly Row[], value: (row: Row) => string | null): string {
  let text = ''
  let separator = '{'
  for (const row of rows) {
    const element = value(row)
    text += separator + (element === null ? 'NULL' : quoted(element))
    separator = ','
  }
  return text === '' ? '{}' : text + '}'
}

function quoted(element: string): string {
  return `"${/["\\]/.test(element) ? element.replace(/["\\]/g, '\\$&') : element}"`
}

/**
 * Bytes as text that the type `bytea` reads: printable ASCII stands for itself (manual, section 8.4 "Binary Data Types"),
 * which is half of the hexadecimal form and what nearly every URL is.
 */
export function byteaText(bytes: Buffer): string {
  const text = bytes.toString('latin1')
  return PRINTABLE.test(text) ? text : `\\x${bytes.toString('hex')}`
}

/** ASCII without controls and without the backslash, which is the one character that the escape form gives a meaning. */
const PRINTABLE = /^[\x20-\x5b\x5d-\x7e]*$/
