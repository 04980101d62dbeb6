/**
 * The shape of `paidonce wallets`.
 *
 * @module
 */
import type { Command } from 'commander'
import { idText, reasonText, walletCursor, wholeNumber } from './option-values.js'
import type { RunLazily } from './context.js'

export function addWalletCommands(program: Command, run: RunLazily): void {
  const wallets = program.command('wallets').description('balances and corrections')

  wallets
    .command('list')
    .description('list wallets in the order of their ids')
    .option('--prefix <text>', 'only ids that begin so')
    .option('--negative', 'only balances below zero')
    .option('--limit <number>', 'wallets to list', wholeNumber(1, 500), 50)
    .option('--cursor <text>', 'go on where an earlier list ended', walletCursor)
    .action(run(async () => (await import('./commands/wallets.js')).walletsList))

  wallets
    .command('show')
    .description('show a balance and its newest entries')
    .argument('<user>', "the user's id")
    .option('--limit <number>', 'entries to show', wholeNumber(1, 500), 20)
    .action(run(async () => (await import('./commands/wallets.js')).walletsShow))

  wallets
    .command('create')
    .description('make a wallet with balance 0, unless it exists')
    .argument('<user>', "the user's id", idText)
    .action(run(async () => (await import('./commands/wallets.js')).walletsCreate))

  wallets
    .command('adjust')
    .description('correct a balance through the ledger; the same key books once')
    .argument('<user>', "the user's id", idText)
    .requiredOption('--amount <decimal>', 'coins to add, or with a minus to take away')
    .requiredOption(
      '--key <text>',
      'your id of this correction, so that repeating it changes nothing',
      idText,
    )
    .requiredOption('--reason <text>', 'why, for the ledger', reasonText)
    .option('--overdraw', 'allow a balance below zero')
    .action(run(async () => (await import('./commands/wallets.js')).walletsAdjust))
}
