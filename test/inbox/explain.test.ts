import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { explainReason, explainTransaction } from '../../src/inbox/explain.js'
import type { Postback } from '../../src/ledger/store.js'
import { OUTCOMES } from '../../src/outcome.js'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/index.js'
import { makeClaim, nextPostbackId, rowOf } from '../../src/testing/claims.js'
import { settleOne } from '../../src/testing/suite-steps.js'

/** Every reason that the reference page lists. */
function allAdvice(): { readonly advice: string }[] {
  const page = readFileSync(new URL('../../docs/reference/reasons.md', import.meta.url), 'utf8')
  const codes = [...page.matchAll(/^\| `([a-z_]+)`/gm)].map(([, code = '']) => code)
  return codes.map((code) => ({ advice: explainReason(code) }))
}

async function ledger(): Promise<MemoryStore> {
  const store = memoryStore({ now: () => new Date('2026-01-02T03:04:05.678Z') })
  await store.start()
  await store.createWallet('u1')
  return store
}

/** What would be said of transaction `t` by what the store holds. */
async function explained(store: MemoryStore): Promise<string> {
  return explainTransaction({
    network: 'n',
    transactionId: 't',
    entries: await store.readTransaction('n', 't'),
    postbacks: (await store.listPostbacks({ transactionId: ['t'] }, { limit: 100, cursor: null })).items,
    amountScale: 3,
  })
}

const settle = (store: MemoryStore, part: Partial<Parameters<typeof makeClaim>[0]> = {}): Promise<unknown> =>
  settleOne(store, makeClaim({ transactionId: 't', ...part }))

function call(part: Partial<Postback>): Postback {
  const row = rowOf(makeClaim({ transactionId: 't' }), { outcome: 'credited', reason: null })
  return { ...row, id: nextPostbackId(), resolvedReason: null, ...part }
}

const ofCalls = (...postbacks: Postback[]): string =>
  explainTransaction({ network: 'n', transactionId: 't', entries: [], postbacks, amountScale: 3 })

describe('explainTransaction', () => {
  it('says that it was paid, to whom, when, and how many copies came', async () => {
    const store = await ledger()
    await settle(store)
    expect(await explained(store)).toBe(
      'Paid: 1.000 was credited to user "u1" on 2026-01-02T03:04:05.678Z (balance after it: 1.000).',
    )
    await settle(store)
    await settle(store)
    expect(await explained(store)).toContain('2 further copies arrived and changed nothing.')
  })

  it('shows both amounts and users of a conflict', async () => {
    const store = await ledger()
    await settle(store)
    await settle(store, { amount: 4_000n, receivedAmount: '4', user: 'u2' })
    const text = await explained(store)
    expect(text).toContain('asked for 4.000 for user "u2" where 1.000 for user "u1" is stored')
    expect(text).toContain('(other_user)')
  })

  it('says that it was taken back', async () => {
    const store = await ledger()
    await settle(store)
    await settle(store, { entry: 'reversal' })
    expect(await explained(store)).toMatch(/^Paid and taken back: .* -1\.000 was booked as its reversal/)
  })

  it('says that a reversal found no wallet', async () => {
    const store = await ledger()
    await settle(store)
    store.state.wallets.delete('u1')
    await settle(store, { entry: 'reversal' })
    expect(await explained(store)).toContain('the wallet was gone and no balance moved')
  })

  it('says that the reversal came first and the credit was not paid', async () => {
    const store = await ledger()
    await settle(store, { entry: 'reversal' })
    await settle(store)
    const text = await explained(store)
    expect(text).toMatch(/^Not paid: its reversal arrived on .* before any credit/)
    expect(text).toContain('Its credit arrived afterwards (1 call) and was not paid.')
  })

  it('says that it was declined for good, and that it was a test', async () => {
    const declined = await ledger()
    await settle(declined, { gate: { kind: 'refuse', reason: 'country' } })
    expect(await explained(declined)).toMatch(
      /^Not paid: the credit of user "u1" was declined for good .*\(country\)/,
    )
    const tested = await ledger()
    await settle(tested, { test: true })
    expect(await explained(tested)).toMatch(/^Paid as a test: /)
  })

  it('tells what waits, and what to do about it', async () => {
    const store = await ledger()
    await settle(store, { user: 'late' })
    const text = await explained(store)
    expect(text).toMatch(/^Not paid: .* named user "late", who had no wallet/)
    expect(text).toContain('paidonce inbox reprocess')
    const held = await ledger()
    await settle(held, { gate: { kind: 'hold', reason: 'amount_sign' } })
    expect(await explained(held)).toContain('is held and waits for a decision (amount_sign)')
  })

  it('says what to check about a signature, and believes a verified call first', () => {
    const forged = call({ outcome: 'bad_signature', reason: 'signature_mismatch', verified: false })
    expect(ofCalls(forged)).toMatch(/had no valid signature \(signature_mismatch\).*Compare the secret/)
    const earlier = call({
      outcome: 'unknown_user',
      reason: 'unknown_user',
      receivedAt: new Date('2026-01-01T00:00:00.000Z'),
    })
    expect(ofCalls(forged, earlier)).toMatch(/who had no wallet.*the newest that counts of 2 calls/)
  })

  it('says what to check where nothing ever arrived', () => {
    expect(ofCalls()).toMatch(
      /^Not paid: no call with transaction id "t" ever reached .* Check the postback URL/,
    )
  })

  it('has a sentence for every outcome, without entries', () => {
    for (const outcome of OUTCOMES) {
      expect(ofCalls(call({ outcome, reason: null }))).toMatch(/^Not paid: .*\.$/)
    }
  })

  it('tells the rewards of one id apart where the key has several parts', async () => {
    const store = await ledger()
    await settle(store, { transactionKey: 't\u001f1' })
    await settle(store, { transactionKey: 't\u001f2', amount: 2_000n, receivedAmount: '2' })
    await settle(store, { transactionKey: 't\u001f2', amount: 2_000n, receivedAmount: '2' })
    const text = await explained(store)
    expect(text).toMatch(
      /^Reward 1 of 2: Paid: 1\.000 .*Reward 2 of 2: Paid: 2\.000 .* 1 further copy arrived/,
    )
  })
})

describe('explainReason', () => {
  it('advises by the code, whatever the detail', () => {
    expect(explainReason('missing_parameter: hash')).toContain('postback URL')
    expect(explainReason('transaction_id_unexpanded_macro: {tx}')).toContain('macro')
    expect(explainReason('too_many_decimals')).toContain('rounding')
    expect(explainReason('balance_limit')).toContain('adjust')
  })

  it('names the command that runs a call again, so that it books', () => {
    const bySituation = {
      signature_mismatch: '--outcome bad_signature',
      token_mismatch: '--outcome bad_signature',
      bad_signature: '--outcome bad_signature',
      signature_not_readable: '--outcome bad_signature',
      ip_not_allowed: '--outcome ip_not_allowed',
      unknown_user: '--outcome unknown_user',
      held: '--outcome held',
      balance_limit: '--outcome held',
      overloaded: '--outcome overloaded',
      deadline: '--outcome overloaded',
      failed: '--outcome failed',
      commit_unknown: '--outcome failed',
      too_many_decimals: '--outcome malformed',
    }
    for (const [reason, filter] of Object.entries(bySituation)) {
      expect(explainReason(reason)).toMatch(new RegExp(`"paidonce inbox reprocess ${filter}[^"]* --apply"`))
    }
    for (const { advice } of allAdvice()) {
      for (const [command] of advice.matchAll(/"paidonce inbox reprocess[^"]*"/g)) {
        expect(command).toContain('--apply')
      }
    }
  })

  it('does not guess', () => {
    expect(explainReason('something_new: x')).toBe('No advice is kept for the reason "something_new".')
    expect(explainReason('constructor')).toBe('No advice is kept for the reason "constructor".')
  })
})
