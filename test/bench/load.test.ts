import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSecondClient } from '../../bench/load/second-client.js'
import { parseWrk } from '../../bench/load/wrk.js'
import { createCleanup } from '../../bench/cleanup.js'
import { greatest, ratePerSecond, startSampler, sumOfCounter } from '../../bench/processes/sampler.js'

describe("wrk's report", () => {
  it('is the line of the script, in seconds and milliseconds', () => {
    const output = `Running 2s test @ http://127.0.0.1:1
{"requests":100,"microseconds":2000000,"taken":110,"exhausted":false,"statuses":{"200":99,"503":1},"errors":{"connect":0,"read":0,"write":0,"status":1,"timeout":0},"latency":{"p50":1500,"p90":2000,"p99":3000,"p99Rest":2500,"max":4000}}
`
    expect(parseWrk(output)).toEqual({
      requests: 100,
      seconds: 2,
      taken: 110,
      exhausted: false,
      statuses: { '200': 99, '503': 1 },
      errors: { connect: 0, read: 0, write: 0, status: 1, timeout: 0 },
      latency: { p50: 1.5, p90: 2, p99: 3, p99Rest: 2.5, max: 4 },
    })
  })

  it('that is not there is an error with what was printed', () => {
    expect(() => parseWrk('unable to connect')).toThrow('unable to connect')
  })
})

describe('samples', () => {
  const samples = [0, 100, 200, 300, 400].map((at) => ({ at, value: at * 2 }))

  it('give the rate between two moments', () => {
    expect(ratePerSecond(samples, 90, 310)).toBe(2_000)
    expect(ratePerSecond(samples, 90, 110)).toBeNaN()
  })

  it('give the greatest value', () => {
    expect(greatest(samples)).toBe(800)
    expect(greatest(samples, 50, 250)).toBe(400)
  })

  it('are taken until it is enough, and a question that fails leaves a gap', async () => {
    let asked = 0
    const sampler = startSampler(1, async () => {
      asked += 1
      if (asked % 2 === 0) throw new Error('no answer')
      return asked
    })
    while (asked < 6) await new Promise((resolve) => setTimeout(resolve, 1))
    await sampler.stop()
    expect(sampler.samples.slice(0, 3).map(({ value }) => value)).toEqual([1, 3, 5])
  })

  it('of a counter are its sum over all labels', () => {
    const text = 'paid_total{a="1"} 3\npaid_total{a="2"} 4\npaid_total_other 9\n# paid_total 1\n'
    expect(sumOfCounter(text, 'paid_total')).toBe(7)
  })
})

describe('the second client', () => {
  const statuses = [503, 503, 200]
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/once' ? 200 : (statuses.shift() ?? 200)).end('OK')
  })
  let base: string
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.close()
  })

  it('follows every call to its end, and insists until it is 200', async () => {
    const client = openSecondClient(base)
    client.send('/once')
    client.send('/once')
    expect((await client.settled()).map(({ status }) => status)).toEqual([200, 200])
    expect(await client.insist('/later')).toBe(true)
    expect(statuses).toEqual([])
    client.close()
  })
})

describe('the clean-up', () => {
  it('runs what is left, the newest first, each once', async () => {
    const cleanup = createCleanup()
    const done: string[] = []
    const step = (name: string) => async () => {
      done.push(name)
    }
    cleanup.defer(step('first'))
    const second = cleanup.defer(step('second'))
    cleanup.defer(step('third'))
    await second()
    await cleanup.run()
    await second()
    expect(done).toEqual(['second', 'third', 'first'])
  })
})
