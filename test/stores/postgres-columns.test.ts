import { describe, expect, it } from 'vitest'
import {
  arrayText,
  byteaText,
  encodeRow,
  encodeRows,
  rowSource,
  singleSource,
  type Column,
} from '../../src/stores/postgres/columns.js'

interface Row {
  readonly id: string
  readonly note: string | null
}

const COLUMNS: readonly Column<Row>[] = [
  { name: 'id', type: 'text', value: ({ id }) => id },
  { name: 'note', type: 'text', value: ({ note }) => note },
]

describe('rows as parameters', () => {
  it('sends a value that all rows share once', () => {
    const rows = [
      { id: 'a', note: 'x' },
      { id: 'b', note: 'x' },
    ]
    expect(encodeRows(COLUMNS, rows, 3)).toEqual(['{"a","b"}', null, '{}', 'x'])
  })

  it('sends nothing of a column that is NULL everywhere, and all of one that is NULL somewhere', () => {
    expect(encodeRows(COLUMNS, [{ id: 'a', note: null }], 3)).toEqual(['{"a"}', null, '{}', null])
    const rows = [
      { id: 'a', note: null },
      { id: 'b', note: 'x' },
    ]
    expect(encodeRows(COLUMNS, rows, 3)).toEqual(['{"a","b"}', null, '{NULL,"x"}', null])
  })

  it('keeps the first column whole, because its length is the number of rows', () => {
    const rows = [
      { id: 'a', note: 'x' },
      { id: 'a', note: 'y' },
    ]
    expect(encodeRows(COLUMNS, rows, 3)).toEqual(['{"a","a"}', null, '{"x","y"}', null])
  })

  it('sends no rows as empty arrays', () => {
    expect(encodeRows(COLUMNS, [], 3)).toEqual(['{}', null, '{}', null])
  })

  it('reads them by as many parameters as are sent', () => {
    const { from, select, parameters } = rowSource(COLUMNS, 5, 'r')
    expect(parameters).toBe(encodeRows(COLUMNS, [], 3).length)
    expect(from).toBe('unnest($5::text[], $7::text[]) as r(id, note)')
    expect(select).toBe('coalesce(r.id, $6::text) as id, coalesce(r.note, $8::text) as note')
  })

  it('sends one row alone without any array', () => {
    const { from, select, parameters } = singleSource(COLUMNS, 5, 'r')
    expect(`${select} from ${from}`).toBe('$5::text as id, $6::text as note from (select) as r')
    expect(encodeRow(COLUMNS, { id: 'a,"b"', note: null }, 3)).toEqual(['a,"b"', null])
    expect(parameters).toBe(2)
  })

  it('quotes what an array would take apart', () => {
    const texts = ['a,b', '"', '\\', 'NULL', '', '{}', ' x ', null]
    expect(arrayText(texts, (text) => text)).toBe('{"a,b","\\"","\\\\","NULL","","{}"," x ",NULL}')
  })

  it('writes bytes as they are where they are printable, and else as hexadecimal digits', () => {
    expect(byteaText(Buffer.from('/postback/n?tx=1&user="u"'))).toBe('/postback/n?tx=1&user="u"')
    expect(byteaText(Buffer.from('a\\b'))).toBe('\\x615c62')
    expect(byteaText(Buffer.from([0, 255]))).toBe('\\x00ff')
    expect(byteaText(Buffer.from('\\x41'))).toBe('\\x5c783431')
    expect(byteaText(Buffer.alloc(0))).toBe('')
  })
})
