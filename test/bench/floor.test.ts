import { describe, expect, it } from 'vitest'
import { readPgbench } from '../../bench/floor/pgbench.js'
import { createAccount, type RecordedGroup } from '../../bench/floor/recorder.js'
import { replayOf } from '../../bench/floor/script.js'
import { createReadyReader, createRequestReader, type WireRequest } from '../../bench/floor/wire.js'

function message(type: string, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)))
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const START = message('', int32(196_608), 'user\0postgres\0\0')
const SYNC = message('S')

function bind(name: string, formats: readonly number[], ...values: (string | Buffer | null)[]): Buffer {
  const sent = values.flatMap((value) =>
    value === null ? [int32(-1)] : [int32(Buffer.byteLength(value)), value],
  )
  const head = [`\0${name}\0`, int16(formats.length), ...formats.map(int16), int16(values.length)]
  return message('B', ...head, ...sent, int16(0))
}

describe('what a client sends', () => {
  const stream = Buffer.concat([
    START,
    message('Q', 'begin; set local x = 1\0'),
    message('P', 'named\0select $1, $2\0', int16(0)),
    bind('named', [], 'a,b', null),
    message('E', '\0', int32(0)),
    SYNC,
    // The second time the statement is known by its name.
    bind('named', [0, 1], 'c', Buffer.from([1, 255])),
    SYNC,
    message('Q', "select ';'\0"),
  ])
  const expected: WireRequest[] = [
    {
      statements: [
        { text: 'begin', values: [] },
        { text: 'set local x = 1', values: [] },
      ],
    },
    { statements: [{ text: 'select $1, $2', values: ['a,b', null] }] },
    { statements: [{ text: 'select $1, $2', values: ['c', '\\x01ff'] }] },
    { statements: [{ text: "select ';'", values: [] }] },
  ]

  it('is read as statements with their values', () => {
    expect(createRequestReader()(stream)).toEqual(expected)
  })

  it('is read the same in chunks of any size', () => {
    for (const size of [1, 3, 7, 50]) {
      const read = createRequestReader()
      const requests: WireRequest[] = []
      for (let at = 0; at < stream.length; at += size) requests.push(...read(stream.subarray(at, at + size)))
      expect(requests).toEqual(expected)
    }
  })
})

it('what a server sends tells when it is ready, and in which state', () => {
  const stream = Buffer.concat([
    message('R', int32(0)),
    message('Z', 'I'),
    message('C', 'BEGIN\0'),
    message('Z', 'T'),
  ])
  expect(createReadyReader()(stream)).toEqual(['I', 'T'])
})

describe('a recorded group', () => {
  const request = (...texts: string[]): WireRequest => ({
    statements: texts.map((text) => ({ text, values: [] })),
  })
  const WRITE = 'with a as (insert into "public"."paidonce_ledger" (id) select 1) select 1'

  function record(play: (account: ReturnType<typeof createAccount>) => void): string[][][] {
    const groups: RecordedGroup[] = []
    const account = createAccount((group) => groups.push(group))
    account.ready(true)
    play(account)
    return groups.map(({ trips }) => trips.map((trip) => trip.map(({ text }) => text)))
  }

  it('is what was sent up to the end of the transaction that wrote the ledger', () => {
    const groups = record((account) => {
      for (let group = 0; group < 2; group += 1) {
        account.sent(request('read'))
        account.ready(true)
        account.sent(request('begin', 'set'))
        account.ready(false)
        account.sent(request(WRITE))
        account.ready(false)
        account.sent(request('commit'))
        account.ready(true)
      }
    })
    const group = [['read'], ['begin', 'set'], [WRITE], ['commit']]
    expect(groups).toEqual([group, group])
  })

  it('has one trip for what was sent without waiting', () => {
    const groups = record((account) => {
      account.sent(request('begin'))
      account.sent(request(WRITE))
      account.ready(false)
      account.sent(request('commit'))
      account.ready(false)
      account.ready(true)
    })
    expect(groups).toEqual([[['begin', WRITE, 'commit']]])
  })

  it('may be one statement', () => {
    const groups = record((account) => {
      account.sent(request(WRITE))
      account.ready(true)
    })
    expect(groups).toEqual([[[WRITE]]])
  })
})

describe('the replay', () => {
  const group = (key: string, extra: string[] = []): RecordedGroup => ({
    trips: [
      [{ text: 'begin', values: [] }],
      [
        { text: 'select $1::text[]', values: [`{${key}}`] },
        { text: 'insert into t values ($2, $1, $2)', values: [null, key] },
      ],
      ...extra.map((text) => [{ text, values: [] }]),
      [{ text: 'commit', values: [] }],
    ],
  })

  it('takes the values from a table, one row for each group of each client', () => {
    const groups = [group('a'), group('b'), group('odd', ['rollback']), group('c'), group('d'), group('e')]
    expect(replayOf(groups, 2)).toEqual({
      columns: ['v_1_0_1', 'v_1_1_2'],
      rows: [
        ['{a}', 'a'],
        ['{b}', 'b'],
        ['{c}', 'c'],
        ['{d}', 'd'],
      ],
      share: 5 / 6,
      script: `\\set i :i + 1
\\set g :client_id * 2 + :i
select v_1_0_1, v_1_1_2 from bench_values where g = :g \\gset
begin;
\\startpipeline
select :v_1_0_1::text[];
insert into t values (:v_1_1_2, null, :v_1_1_2);
\\endpipeline
commit;
`,
    })
  })

  it('needs groups that are alike', () => {
    expect(() => replayOf([group('a'), group('b', ['other'])], 2)).toThrow('Of 2 recorded groups no 2 sent')
  })

  it('has the rate that pgbench prints, unless a client ended early', () => {
    const output =
      'number of transactions actually processed: 8\ntps = 812.5 (without initial connection time)\n'
    expect(readPgbench(output)).toBe(812.5)
    expect(() => readPgbench(`pgbench: error: client 1 aborted\n${output}`)).toThrow('client 1 aborted')
    expect(() => readPgbench('nothing')).toThrow('pgbench failed')
  })
})
