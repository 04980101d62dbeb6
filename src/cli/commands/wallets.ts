/**
 * `paidonce wallets`: balances and corrections, day to day.
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import type { AdjustmentResult, LedgerStore } from '../../ledger/store.js'
import { formatMinor, MAX_AMOUNT_MINOR, parseMinor } from '../../money.js'
import { entryView, walletView } from '../../server/api-views.js'
import { readSettings, withStore, type CommandRun, type GlobalOptions } from '../context.js'
import { EXIT, usageError } from '../failure.js'
import { shellWord } from '../shell-word.js'
import { alignTable } from '../table.js'

export interface WalletsListOptions extends GlobalOptions {
  readonly prefix?: string
  readonly negative?: boolean
  readonly limit: number
  readonly cursor?: string
}

export const walletsList: CommandRun<WalletsListOptions> = async (context, options) => {
  const { out } = context
  const { settings } = await readSettings(context)
  return withStore(settings, async (store) => {
    const { prefix, negative = false, limit, cursor = null } = options
    const page = { limit, cursor, negative, ...(prefix === undefined ? {} : { prefix }) }
    const { items, nextCursor } = await store.listWallets(page)
    const scale = store.amountScale
    if (out.json) {
      out.printJson({ items: items.map((row) => walletView(row, scale)), nextCursor })
      return EXIT.fine
    }
    if (items.length === 0) out.note('No wallets.')
    else
      out.print(
        alignTable(items, [
          { title: 'USER', value: (row) => row.user },
          { title: 'BALANCE', value: (row) => formatMinor(row.balance, scale), right: true },
        ]),
      )
    if (nextCursor !== null) out.note(`There are more: --cursor ${JSON.stringify(nextCursor)}`)
    return EXIT.fine
  })
}

export interface WalletsShowOptions extends GlobalOptions {
  readonly limit: number
}

export const walletsShow: CommandRun<WalletsShowOptions> = async (context, { limit }, [user = '']) => {
  const { out } = context
  const { settings } = await readSettings(context)
  return withStore(settings, async (store) => {
    const wallet = await store.readWallet(user)
    if (wallet === null) throw unknownUser(user, store.foreignWallets)
    const { items } = await store.listEntries(user, { limit, cursor: null })
    const scale = store.amountScale
    if (out.json) {
      out.printJson({ ...walletView(wallet, scale), entries: items.map((entry) => entryView(entry, scale)) })
      return EXIT.fine
    }
    out.print(`${out.bold(user)}: ${formatMinor(wallet.balance, scale)}`)
    if (items.length > 0) {
      out.print(
        alignTable(items, [
          { title: 'AT', value: (row) => row.createdAt.toISOString() },
          { title: 'ENTRY', value: (row) => (row.test ? `${row.entry} (test)` : row.entry) },
          { title: 'AMOUNT', value: (row) => formatMinor(row.amount, scale), right: true },
          {
            title: 'BALANCE AFTER',
            value: (row) => (row.balanceAfter === null ? '-' : formatMinor(row.balanceAfter, scale)),
            right: true,
          },
          { title: 'NETWORK', value: (row) => row.network },
          { title: 'TRANSACTION', value: (row) => row.transactionId },
          { title: 'REASON', value: (row) => row.reason ?? '' },
        ]),
      )
    }
    return EXIT.fine
  })
}

export const walletsCreate: CommandRun<GlobalOptions> = async (context, _, [user = '']) => {
  const { out } = context
  const { settings } = await readSettings(context)
  return withStore(settings, async (store) => {
    if (store.foreignWallets) throw foreignWallets()
    const created = await store.createWallet(user)
    const wallet = await store.readWallet(user)
    if (wallet === null) throw unknownUser(user)
    if (out.json) out.printJson({ ...walletView(wallet, store.amountScale), created })
    else out.print(created ? `Wallet ${user} was made.` : `Wallet ${user} exists already; nothing changed.`)
    return EXIT.fine
  })
}

export interface WalletsAdjustOptions extends GlobalOptions {
  readonly amount: string
  readonly key: string
  readonly reason: string
  readonly overdraw?: boolean
}

export const walletsAdjust: CommandRun<WalletsAdjustOptions> = async (context, options, [user = '']) => {
  const { out } = context
  const { settings } = await readSettings(context)
  return withStore(settings, async (store) => {
    const { key, reason, overdraw = false } = options
    const amount = amountFrom(options.amount, store.amountScale)
    const result = await store.adjust({ key, user, amount, reason, overdraw, actor: 'command line' })
    if (!('entry' in result)) throw refusal(result.kind, user, options, store)
    const scale = store.amountScale
    if (out.json) {
      out.printJson({ repeated: result.kind === 'repeated', entry: entryView(result.entry, scale) })
      return EXIT.fine
    }
    const after =
      result.entry.balanceAfter === null
        ? ''
        : `, balance after it ${formatMinor(result.entry.balanceAfter, scale)}`
    const booked = `${formatMinor(result.entry.amount, scale)} for ${user}${after}`
    out.print(result.kind === 'repeated' ? `Booked before under this key: ${booked}.` : `Booked: ${booked}.`)
    return EXIT.fine
  })
}

function amountFrom(text: string, scale: number): bigint {
  const amount = parseMinor(text, scale)
  if (amount === null || amount === 0n || amount > MAX_AMOUNT_MINOR || amount < -MAX_AMOUNT_MINOR) {
    throw usageError(
      `--amount is ${JSON.stringify(text)}; expected a decimal other than 0 with at most ${scale} decimals, up to ${formatMinor(MAX_AMOUNT_MINOR, scale)}.`,
      'For instance --amount 12.5, or --amount -3 to take away.',
    )
  }
  return amount
}

function refusal(
  kind: Exclude<AdjustmentResult['kind'], 'booked' | 'repeated'>,
  user: string,
  { key, amount }: WalletsAdjustOptions,
  store: Pick<LedgerStore, 'foreignWallets'>,
): PaidonceError {
  switch (kind) {
    case 'unknown_user':
      return unknownUser(user, store.foreignWallets)
    case 'key_conflict':
      return new PaidonceError(
        'key_conflict',
        `The key ${JSON.stringify(key)} was used for another adjustment; nothing was booked.`,
        { hint: 'Take a new key for a new adjustment; the same key is only for repeating the same one.' },
      )
    case 'insufficient_balance':
      return new PaidonceError(
        'insufficient_balance',
        `The balance of ${JSON.stringify(user)} would go below zero with ${amount}; nothing was booked.`,
        { hint: 'Allow it with --overdraw.' },
      )
    case 'balance_limit':
      return new PaidonceError(
        'balance_limit',
        `The balance of ${JSON.stringify(user)} would leave the range that the database holds; nothing was booked.`,
      )
  }
}

function unknownUser(user: string, foreign = false): PaidonceError {
  return new PaidonceError('unknown_user', `There is no wallet for user ${JSON.stringify(user)}.`, {
    hint: foreign
      ? 'The wallets are rows of your own table: the user has to exist there.'
      : `Make it with "paidonce wallets create ${shellWord(user)}".`,
  })
}

function foreignWallets(): PaidonceError {
  return new PaidonceError('foreign_wallets', "The wallets are rows of the publisher's own table.", {
    hint: 'Create the user in your app; Paidonce finds the row by its id.',
  })
}
