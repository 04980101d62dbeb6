/**
 * The command line's shape. Commands are imported when they run, so that `--help` needs none of them.
 *
 * @module
 */
import { Command, Option } from 'commander'
import { refuseEmptyValues, refuseWrongFlags } from './check-flags.js'
import { createContext, type CommandRun, type GlobalOptions, type RunLazily } from './context.js'
import type { CliIo } from './io.js'
import { amountText, wholeNumber } from './option-values.js'
import { addInboxCommands } from './program-inbox.js'
import { addWalletCommands } from './program-wallets.js'
import { packageVersion } from './version.js'

/** Builds the program; `finish` is told the exit status of the command that ran. */
export function buildProgram(io: CliIo, finish: (exitCode: number) => void): Command {
  const run: RunLazily =
    <O extends GlobalOptions>(load: () => Promise<CommandRun<O>>) =>
    async (...given) => {
      const command = given.at(-1) as Command
      const options = command.optsWithGlobals<O>()
      const args = command.processedArgs as readonly string[]
      refuseEmptyValues(command)
      const context = createContext(io, options)
      refuseWrongFlags(context.flags)
      finish(await (await load())(context, options, args))
    }

  const program = new Command('paidonce')
  program
    .description('Receives reward postbacks and books each reward once and each reversal once.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .option('--json', 'print data (and errors) as JSON')
    .option(
      '--config <path>',
      'configuration file (default: paidonce.config.{ts,js,mjs,json} in this folder)',
    )
    .option('--database <url>', 'sqlite:PATH, or a postgres://, mysql:// or mariadb:// URL')
    .option('--log-level <level>', "the server's log: fatal, error, warn, info, debug, trace or silent")
    .option('--no-color', 'no colour; NO_COLOR is honoured as well')
    .addHelpText('before', EXAMPLES)

  program
    .command('start')
    .description('run the server')
    .option('--demo', 'without a configuration: embedded database, one network and one wallet in ./data')
    .option('--port <number>', 'port of the receiver (default 8790)')
    .option('--host <address>', 'address to listen on (default 127.0.0.1)')
    .option('--admin-port <number>', 'port of the admin API (default: the same)')
    .action(run(async () => (await import('./commands/start.js')).start))

  program
    .command('init')
    .description('write a configuration file and print the postback URL to paste at the network')
    .requiredOption('--network <name>', 'your name for the network')
    .option('--profile <name>', "profile of the catalogue (default: the network's name)")
    .option(
      '--secret-env <variable>',
      'environment variable that holds the secret (default: NAME_POSTBACK_KEY)',
    )
    .option('--rate <decimal>', 'coins of one unit, where the network sends payouts')
    .option('--public-url <url>', 'address under which networks reach this server')
    .option('--port <number>', 'port of the receiver')
    .option('--host <address>', 'address to listen on')
    .option('--json-config', 'write paidonce.config.json instead of paidonce.config.mjs')
    .addHelpText('after', '\n--config names the file to write: .json, .mjs, .js, .cjs or .ts.')
    .action(run(async () => (await import('./commands/init.js')).init))

  program
    .command('migrate')
    .description('bring the schema up to date')
    .option('--dry-run', 'print the SQL that would run')
    .action(run(async () => (await import('./commands/migrate.js')).migrate))

  program
    .command('generate')
    .description('print the whole schema as SQL for your own migration tool')
    .action(run(async () => (await import('./commands/generate.js')).generate))

  program
    .command('doctor')
    .description('check settings, database, networks and reachability')
    .option('--url <url>', 'public address to call, such as https://pay.example.com')
    .action(run(async () => (await import('./commands/doctor.js')).doctor))

  signOptions(program.command('sign').description('print a signed postback URL')).action(
    run(async () => (await import('./commands/sign.js')).sign),
  )

  checkOptions(
    signOptions(program.command('send').description('send a fresh signed postback and tally the answers')),
  )
    .option('--to <url>', "receiver to send to (default: the configured server's)")
    .action(run(async () => (await import('./commands/send.js')).send))

  checkOptions(program.command('replay').description('send a call that exists already, as it was'))
    .argument('<url-or-inbox-id>', 'URL in single quotes, or the id of a kept call')
    .option('--check', 'exit 1 unless it is booked once and the balance moved once')
    .option('--to <url>', 'receiver to send to instead')
    .option('--network <name>', 'network, where the URL does not tell it')
    .addOption(new Option('--method <method>', 'method of a URL').choices(['GET', 'POST']).default('GET'))
    .action(run(async () => (await import('./commands/replay.js')).replay))

  program
    .command('explain')
    .description('tell why a transaction was or was not paid')
    .argument('[transaction]', "the network's transaction id")
    .option('--network <name>', 'only this network')
    .option('--user <id>', 'the newest transactions of a user instead')
    .option('--limit <number>', 'transactions of a user to explain', wholeNumber(1, 100), 20)
    .action(run(async () => (await import('./commands/explain.js')).explain))

  addInboxCommands(program, run)
  addWalletCommands(program, run)

  const tests = program.command('tests').description('test credits')
  tests
    .command('clear')
    .description('reverse every test credit that still stands, and leave tests out of lists')
    .option('--network <name>', 'only this network')
    .action(run(async () => (await import('./commands/tests-clear.js')).testsClear))

  program
    .command('audit')
    .description('compare balances with the ledger and reversals with credits; exit 1 with findings')
    .action(run(async () => (await import('./commands/audit.js')).audit))

  for (const [path, example] of Object.entries(COMMAND_EXAMPLES)) {
    const command = path
      .split(' ')
      .reduce<Command | undefined>((at, name) => at?.commands.find((child) => child.name() === name), program)
    command?.addHelpText('before', `Example:\n  paidonce ${example}\n`)
  }
  return program
}

function signOptions(command: Command): Command {
  return command
    .requiredOption('--network <name>', 'configured network')
    .requiredOption('--user <id>', 'user to reward')
    .requiredOption('--amount <decimal>', "amount in the network's own unit", amountText)
    .option('--transaction <id>', 'transaction id (default: a fresh one)')
    .option('--event <id>', 'event id')
    .option('--reversal', 'take the transaction back')
    .option('--base <url>', "receiver's address to sign for (default: the configured server's)")
}

function checkOptions(command: Command): Command {
  return command
    .option('--copies <number>', 'copies to send at the same instant', wholeNumber(1, 1000), 1)
    .option('--admin-url <url>', "admin API (default: the receiver's address)")
    .option('--token-file <path>', 'file with the admin token (default: PAIDONCE_ADMIN_TOKEN)')
}

/** Shown before each command's own help. */
const COMMAND_EXAMPLES: Readonly<Record<string, string>> = {
  start: 'start --config ./paidonce.config.mjs --port 8790',
  init: 'init --network sharklio --profile sharklio --database sqlite:./data/paidonce.db',
  migrate: 'migrate --dry-run',
  generate: 'generate --database postgres://localhost/app > paidonce.sql',
  doctor: 'doctor --url https://pay.example.com',
  sign: 'sign --network demo --user demo-user --amount 315 --transaction tx-123',
  send: 'send --network demo --user demo-user --amount 315 --copies 20',
  replay: "replay 'http://127.0.0.1:8790/postback/demo?tx=…' --copies 20 --check",
  explain: 'explain tx-123 --network demo',
  'inbox list': 'inbox list --open --network demo --since 2026-01-31',
  'inbox show': 'inbox show 0190f3a1-7c00-7000-8000-000000000000',
  'inbox resolve':
    "inbox resolve 0190f3a1-7c00-7000-8000-000000000000 --reason 'the network confirmed the first amount'",
  'inbox reprocess': 'inbox reprocess --open --outcome unknown_user --apply',
  'wallets list': 'wallets list --negative',
  'wallets show': 'wallets show demo-user',
  'wallets create': 'wallets create demo-user',
  'wallets adjust': "wallets adjust demo-user --amount 12.5 --key ticket-4711 --reason 'lost credit'",
  'tests clear': 'tests clear --network demo',
  audit: 'audit --json',
}

const EXAMPLES = `Examples:
  paidonce start --demo
  paidonce init --network sharklio --profile sharklio
  paidonce send --network demo --user demo-user --amount 315 --copies 20
  paidonce replay 'http://127.0.0.1:8790/postback/demo?tx=…' --copies 20 --check
  paidonce explain tx-123
  paidonce audit --json
`
