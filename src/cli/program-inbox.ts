/**
 * The shape of `paidonce inbox`.
 *
 * @module
 */
import type { Command } from 'commander'
import { callCursor, collect, collectOutcome, instant, reasonText, wholeNumber } from './option-values.js'
import type { RunLazily } from './context.js'

export function addInboxCommands(program: Command, run: RunLazily): void {
  const inbox = program.command('inbox').description('the calls as they were received')

  filterOptions(inbox.command('list').description('list calls, newest first'))
    .option('--limit <number>', 'calls to list', wholeNumber(1, 500), 50)
    .option('--cursor <text>', 'go on where an earlier list ended', callCursor)
    .action(run(async () => (await import('./commands/inbox.js')).inboxList))

  inbox
    .command('show')
    .description('show one call with what to do about it')
    .argument('<id>', "the call's id")
    .action(run(async () => (await import('./commands/inbox.js')).inboxShow))

  inbox
    .command('resolve')
    .description('close an open call')
    .argument('<id>', "the call's id")
    .requiredOption('--reason <text>', 'why it is closed', reasonText)
    .action(run(async () => (await import('./commands/inbox.js')).inboxResolve))

  filterOptions(
    inbox
      .command('reprocess')
      .description("run kept calls again under today's configuration; books each once as ever"),
  )
    .option('--apply', 'book them; without it nothing is written')
    .action(run(async () => (await import('./commands/inbox.js')).inboxReprocess))
}

function filterOptions(command: Command): Command {
  return command
    .option('--network <name>', 'only this network (may repeat)', collect)
    .option('--user <id>', 'only this user (may repeat)', collect)
    .option('--transaction <id>', 'only this transaction id (may repeat)', collect)
    .option('--outcome <outcome>', 'only this outcome (may repeat)', collectOutcome)
    .option('--open', 'only calls that wait for somebody')
    .option('--since <time>', 'received at or after', instant)
    .option('--until <time>', 'received before', instant)
    .option('--q <prefix>', 'transaction or user ids that begin so')
}
