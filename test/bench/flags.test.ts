import { describe, expect, it, vi } from 'vitest'
import { readFlags, usage, WrongFlags, type Flags } from '../../bench/flags.js'
import { main } from '../../bench/run.js'
import { chooseTasks, TASKS, titleOf, WORKLOAD_NAMES } from '../../bench/tasks.js'

const read = (...argv: string[]): Flags => readFlags(argv, ['spread', 'hot'], '/results')

describe('the flags of the benchmark', () => {
  it('are five rounds of six seconds of everything where none is given', () => {
    expect(read()).toEqual({
      only: null,
      stores: ['postgres', 'mariadb', 'sqlite'],
      lengths: { rounds: 5, seconds: 6, postbacks: 1_000_000, rows: 5_000_000 },
      quick: false,
      json: false,
      readme: false,
      help: false,
      results: '/results',
      profile: null,
    })
  })

  it('are one round of two seconds with --quick, and what is given beside it counts', () => {
    expect(read('--quick').lengths).toMatchObject({ rounds: 1, seconds: 2 })
    expect(read('--quick', '--seconds', '3').lengths).toMatchObject({ rounds: 1, seconds: 3 })
  })

  it('take names in any order, with spaces, and keep them in the order of the table', () => {
    expect(read('--only', 'hot, spread,hot').only).toEqual(['spread', 'hot'])
    expect(read('--stores', 'sqlite,postgres').stores).toEqual(['postgres', 'sqlite'])
  })

  it.each([
    [['--only', 'warm'], 'There is no workload "warm". There are: spread, hot.'],
    [['--only', ','], 'No workload was named.'],
    [['--stores', 'oracle'], 'There is no store "oracle".'],
    [['--rounds', '0'], '--rounds takes a whole number from 1, and "0" is none.'],
    [['--seconds', '1.5'], '--seconds takes a whole number from 1'],
    [['--rows', '-1'], "'--rows' argument is ambiguous"],
    [['--fast'], "Unknown option '--fast'"],
    [['spread'], "Unexpected argument 'spread'"],
  ])('refuse %j with a message that helps', (argv, message) => {
    expect(() => read(...argv)).toThrow(WrongFlags)
    expect(() => read(...argv)).toThrow(message)
  })

  it('are all in the help', () => {
    const text = usage(['spread'])
    for (const flag of [
      'quick',
      'only',
      'stores',
      'rounds',
      'seconds',
      'postbacks',
      'rows',
      'json',
      'readme',
    ])
      expect(text).toContain(`--${flag}`)
  })
})

describe('npm run bench', () => {
  it.each([[['--only', 'warm']], [['--rounds', 'many']], [['--fast']]])(
    'ends with 2 at %j and starts nothing',
    async (argv) => {
      const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
      try {
        expect(await main(argv)).toBe(2)
        expect(written).toHaveBeenCalledOnce()
      } finally {
        written.mockRestore()
      }
    },
  )
})

describe('the tasks', () => {
  it('are each there once', () => {
    const titles = TASKS.map(titleOf)
    expect(new Set(titles).size).toBe(titles.length)
  })

  it('cover every workload on every store that has a limit', () => {
    const places = new Map(
      WORKLOAD_NAMES.map((name) => [
        name,
        TASKS.filter((task) => task.name === name).map(({ store, connections }) => `${store} ${connections}`),
      ]),
    )
    expect(Object.fromEntries(places)).toMatchObject({
      spread: ['postgres 64', 'postgres 256', 'mariadb 64', 'sqlite 64'],
      hot: ['postgres 64', 'mariadb 64'],
      replay: ['postgres 64'],
      mixed: ['postgres 64'],
      pooler: ['postgres 64'],
      alone: ['postgres 1', 'mariadb 1'],
      two: ['postgres 64'],
      'two-hot': ['postgres 64'],
      locked: ['postgres 64', 'mariadb 64'],
      key: ['postgres 64', 'mariadb 64'],
      blip: ['postgres 64', 'mariadb 64'],
      deep: ['postgres 64', 'sqlite 64'],
      memory: ['postgres 64', 'mariadb 64', 'sqlite 64'],
      overload: ['postgres 2000', 'mariadb 2000', 'sqlite 2000'],
      'database-alone': ['postgres 64'],
    })
  })

  it('of --quick are the main ones, and one that was named is taken although it is not of them', () => {
    const flags = readFlags(['--quick'], WORKLOAD_NAMES, '/results')
    const quick = chooseTasks(TASKS, flags).map(({ name, store }) => `${name} ${store}`)
    expect(quick).toEqual(expect.arrayContaining(['spread postgres', 'hot postgres', 'spread sqlite']))
    expect(quick.length).toBeLessThan(10)
    const named = readFlags(['--quick', '--only', 'memory'], WORKLOAD_NAMES, '/results')
    expect(chooseTasks(TASKS, named).map(({ name }) => name)).toEqual(['memory', 'memory', 'memory'])
  })
})
