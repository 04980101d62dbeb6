import { describe, expect, it } from 'vitest'
import { auditFailed, runAudit, type AuditReport } from '../../src/audit/run-audit.js'
import type { LedgerStore } from '../../src/ledger/store.js'
import type { LedgerEntry } from '../../src/ledger/types.js'
import { memoryStore, type MemoryStore } from '../../src/stores/memory/index.js'
import { makeClaim } from '../../src/testing/claims.js'
import { settleOne } from '../../src/testing/suite-steps.js'

/** A ledger with one paid credit of 1.000 for each user. */
async function paid(...users: string[]): Promise<MemoryStore> {
  const store = memoryStore()
  await store.start()
  for (const user of users) {
    await store.createWallet(user)
    await settleOne(store, makeClaim({ transactionId: `t-${user}`, user }))
  }
  return store
}

/** Changes a stored entry, which nothing but a fault or a stranger could do. */
function corrupt(
  store: MemoryStore,
  transactionId: string,
  entry: string,
  change: Partial<LedgerEntry>,
): void {
  const index = store.state.ledger.findIndex(
    (row) => row.transactionId === transactionId && row.entry === entry,
  )
  const stored = store.state.ledger[index]
  if (stored === undefined) throw new Error(`There is no ${entry} of ${transactionId}.`)
  const changed = { ...stored, ...change }
  store.state.ledger[index] = changed
  const key = `${stored.idSpace}\u0000${stored.transactionKey}`
  store.state.byKey.set(
    key,
    (store.state.byKey.get(key) ?? []).map((row) => (row === stored ? changed : row)),
  )
}

const foreign = (store: MemoryStore): LedgerStore => ({ ...store, foreignWallets: true })
const checks = (report: AuditReport): string[] =>
  report.findings.map(({ check, severity }) => `${severity} ${check}`)

describe('audit of own wallets', () => {
  it('finds nothing in a right ledger, whatever the batch', async () => {
    const store = await paid('a', 'b', 'c', 'd', 'e')
    await settleOne(store, makeClaim({ transactionId: 't-a', entry: 'reversal', user: 'a' }))
    for (const batch of [1, 2, 5, 500]) {
      const report = await runAudit(store, { batch })
      expect(report.findings).toEqual([])
      expect(report.checked.wallets).toBe(5)
      expect(auditFailed(report)).toBe(false)
    }
  })

  it('reports a balance that its entries do not add up to, with the money at stake', async () => {
    const store = await paid('a', 'b')
    store.state.wallets.set('a', 1_500n)
    const report = await runAudit(store)
    expect(report.findings).toMatchObject([{ check: 'drift', severity: 'error', user: 'a', amount: '0.500' }])
    expect(report.findings[0]?.message).toContain('1.500')
    expect(auditFailed(report)).toBe(true)
  })

  it('reports an entry that does not follow from the one before it', async () => {
    const store = await paid('a')
    await settleOne(store, makeClaim({ transactionId: 't2', user: 'a' }))
    corrupt(store, 't2', 'credit', { balanceAfter: 9_000n })
    const report = await runAudit(store)
    expect(report.findings).toMatchObject([
      { check: 'chain_break', severity: 'error', user: 'a', transactionId: 't2', amount: '7.000' },
    ])
  })

  it('reports reversals that contradict their credits', async () => {
    const store = await paid('a', 'b', 'c')
    for (const user of ['a', 'b', 'c']) {
      await settleOne(store, makeClaim({ transactionId: `t-${user}`, entry: 'reversal', user }))
    }
    corrupt(store, 't-a', 'reversal', { amount: -400n })
    corrupt(store, 't-b', 'reversal', { user: 'c' })
    const key = 'n\u0000t-c'
    store.state.ledger.splice(
      store.state.ledger.findIndex((row) => row.transactionId === 't-c' && row.entry === 'credit'),
      1,
    )
    store.state.byKey.set(
      key,
      (store.state.byKey.get(key) ?? []).filter((row) => row.entry === 'reversal'),
    )
    const report = await runAudit(store)
    expect(report.findings.filter(({ transactionId }) => transactionId !== undefined)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ check: 'reversal_amount', severity: 'error', amount: '0.600' }),
        expect.objectContaining({ check: 'reversal_user', severity: 'error', user: 'c' }),
        expect.objectContaining({
          check: 'reversal_without_credit',
          severity: 'error',
          transactionId: 't-c',
        }),
      ]),
    )
  })

  it('tells of a reversal without a wallet, and warns of own entries whose wallet is gone', async () => {
    const store = await paid('a', 'b')
    store.state.wallets.delete('a')
    await settleOne(store, makeClaim({ transactionId: 't-a', entry: 'reversal', user: 'a' }))
    const report = await runAudit(store)
    expect(checks(report).sort()).toEqual(['info orphan', 'warning missing_wallet'])
    expect(auditFailed(report)).toBe(true)
  })

  it('says nothing of a user who never had a wallet and never got anything', async () => {
    const store = await paid('a')
    await settleOne(store, makeClaim({ transactionId: 'early', entry: 'reversal', user: 'nobody' }))
    expect(checks(await runAudit(store))).toEqual([])
  })

  it('tells of a negative balance without calling it a fault', async () => {
    const store = await paid('a')
    await store.adjust({ key: 'k', user: 'a', amount: -3_000n, reason: 'spent', actor: 'me', overdraw: true })
    const report = await runAudit(store)
    expect(report.findings).toMatchObject([{ check: 'negative_balance', severity: 'info', amount: '2.000' }])
    expect(auditFailed(report)).toBe(false)
  })

  it('counts what it does not list, errors first', async () => {
    const users = ['a', 'b', 'c', 'd']
    const store = await paid(...users)
    for (const user of users) store.state.wallets.set(user, -5n)
    const report = await runAudit(store, { listed: 2 })
    expect(report.counts).toEqual({ error: 4, warning: 0, info: 4 })
    expect(checks(report)).toEqual([
      'error drift',
      'error drift',
      'info negative_balance',
      'info negative_balance',
    ])
  })
})

describe("audit of the publisher's wallets", () => {
  it('does not fail for ever because the app deleted a user, paid or taken back', async () => {
    const store = await paid('a', 'b')
    store.state.wallets.delete('a')
    store.state.wallets.delete('b')
    await settleOne(store, makeClaim({ transactionId: 't-a', entry: 'reversal', user: 'a' }))
    const report = await runAudit(foreign(store))
    expect(checks(report).sort()).toEqual(['info missing_wallet', 'info missing_wallet', 'info orphan'])
    expect(auditFailed(report)).toBe(false)
  })

  it('lists what the app moved as no fault', async () => {
    const store = await paid('a')
    store.state.wallets.set('a', 700n)
    await settleOne(store, makeClaim({ transactionId: 't2', user: 'a' }))
    store.state.wallets.set('a', 1_600n)
    const report = await runAudit(foreign(store))
    expect(report.findings).toMatchObject([
      { check: 'outside_movement', severity: 'info', amount: '-0.100' },
      { check: 'outside_movement', severity: 'info', amount: '-0.300', transactionId: 't2' },
    ])
    expect(auditFailed(report)).toBe(false)
  })

  it('names a gap of exactly one credit', async () => {
    const store = await paid('a')
    await settleOne(store, makeClaim({ transactionId: 't2', user: 'a', amount: 2_500n }))
    store.state.wallets.set('a', 1_000n)
    await settleOne(store, makeClaim({ transactionId: 't3', user: 'a' }))
    const report = await runAudit(foreign(store))
    expect(report.findings).toMatchObject([
      { check: 'overwritten_balance', severity: 'info', amount: '-2.500', transactionId: 't3' },
    ])
    expect(report.findings[0]?.message).toContain('"t2"')
    expect(report.findings[0]?.message).toContain('the app probably overwrote the balance')
  })
})
