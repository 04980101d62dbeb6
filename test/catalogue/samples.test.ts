import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { findProfile, lookUpProfile, profileNames, setupText } from '../../src/catalogue/index.js'
import { decide } from '../../src/ledger/decide.js'
import { NOTHING_STORED, OPEN_GATE, type StoredEntry, type StoredPair } from '../../src/ledger/types.js'
import { answerFor } from '../../src/postback/answers.js'
import { resolveNetwork } from '../../src/postback/network.js'
import { pasteUrl } from '../../src/postback/params.js'
import { readPostback } from '../../src/postback/read.js'

interface Samples {
  readonly secret: string
  readonly amountScale: number
  readonly samples: readonly {
    readonly name: string
    readonly method: string
    readonly url: string
    readonly outcome: string
    readonly reason?: string
    readonly answer: { readonly status: number; readonly body: string }
  }[]
}

const root = new URL('../../', import.meta.url)

test('the generated catalogue is up to date and holds every folder', () => {
  const script = fileURLToPath(new URL('scripts/generate-catalogue.mjs', root))
  expect(() => execFileSync(process.execPath, [script, '--check'])).not.toThrow()
  expect(profileNames()).toEqual(readdirSync(new URL('catalogue/', root)).sort())
})

test.each(profileNames())('%s: the samples lead to their outcomes and answers', (name) => {
  const file = new URL(`catalogue/${name}/samples.json`, root)
  const { secret, amountScale, samples } = JSON.parse(readFileSync(file, 'utf8')) as Samples
  const network = resolveNetwork(name, { profile: name, secret }, lookUpProfile)
  const stored = new Map<string, StoredPair>()
  for (const [index, sample] of samples.entries()) {
    const request = { ...sample, headers: {}, body: Buffer.alloc(0), remoteAddress: '203.0.113.7' }
    const reading = readPostback(request, network, { amountScale, postbackId: `p${index}` })
    const settled = reading.claim === null ? reading.outcome : book(stored, reading.claim)
    if (settled === null) throw new Error('A reading without claim has an outcome.')
    const answer = answerFor(settled, reading, network.answers)
    const { name: title, outcome, reason } = sample
    expect({ title, outcome: settled.outcome, answer }).toEqual({ title, outcome, answer: sample.answer })
    if (reason !== undefined) expect(settled.reason).toBe(reason)
  }
})

/** Decides a claim against what earlier samples stored, with every wallet in place. */
function book(stored: Map<string, StoredPair>, claim: NonNullable<ReturnType<typeof readPostback>['claim']>) {
  const pair = stored.get(claim.transactionKey) ?? NOTHING_STORED
  const decision = decide(pair, true, { ...claim, idSpace: claim.network, gate: OPEN_GATE })
  const next = { ...pair }
  for (const planned of decision.entries) {
    const entry: StoredEntry = {
      entry: claim.entry,
      user: planned.user,
      amount: planned.amount,
      receivedAmount: claim.receivedAmount,
      unit: claim.unit,
      test: claim.test,
      imported: false,
      decision: planned.decision,
      postbackId: claim.postbackId,
    }
    if (planned.entry === 'credit') Object.assign(next, { credit: { ...entry, entry: 'credit' } })
    else Object.assign(next, { reversal: { ...entry, entry: 'reversal' } })
  }
  stored.set(claim.transactionKey, next)
  return decision
}

test('sharklio: what the network is known to do', () => {
  const profile = findProfile('sharklio')
  expect(profile).toMatchObject({
    timeBudgetMs: 6000,
    retries: ['1m', '5m', '30m', '2h', '6h'],
    test: { default: 'credit' },
    key: ['transactionId'],
    unconfirmed: false,
  })
  if (profile === null) return
  const query = pasteUrl(profile, '').slice(1)
  expect(setupText('sharklio')).toContain(query)
  for (const role of ['transactionId', 'user', 'amount', 'status', 'signature']) {
    const field = profile.fields[role]
    expect(query).toContain(`${field !== undefined && 'query' in field ? field.query : '?'}={`)
  }
})

test('names that are no profile are not found', () => {
  expect(findProfile('nobody')).toBeNull()
  expect(findProfile('__proto__')).toBeNull()
  expect(setupText('constructor')).toBeNull()
})
