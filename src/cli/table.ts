/**
 * Aligned columns without borders, which read well at a terminal and in a pipe.
 *
 * @module
 */

export interface Column<T> {
  readonly title: string
  readonly value: (row: T) => string
  /** Amounts and counts are read from their last digit. */
  readonly right?: boolean
}

/** Lays rows out under their titles; widths are counted in characters. */
export function alignTable<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
  const cells = rows.map((row) => columns.map((column) => visible(column.value(row))))
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...cells.map((line) => widthOf(line[index] ?? ''))),
  )
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, index) => {
        const gap = ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(text)))
        return columns[index]?.right === true ? gap + text : text + gap
      })
      .join('  ')
      .trimEnd()
  return [line(columns.map((column) => column.title)), ...cells.map(line)].join('\n')
}

/** Code points, which is what most terminals show one cell for. */
function widthOf(text: string): number {
  return Array.from(text).length
}

/** Names and values below each other. */
export function alignPairs(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...pairs.map(([name]) => name.length))
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${visible(value)}`.trimEnd()).join('\n')
}

/** Shows control characters instead of sending them to the terminal: anybody can put some into a call. */
export function visible(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are exactly what this replaces.
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
}
