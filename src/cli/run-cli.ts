/**
 * Runs one command line and resolves to its exit status; nothing here ends the process.
 *
 * @module
 */
import { CommanderError, type Command } from 'commander'
import { EXIT, failureOf, failureText } from './failure.js'
import type { CliIo } from './io.js'
import { buildProgram } from './program.js'

/** Runs a command line. */
export async function runCli(io: CliIo): Promise<number> {
  let exitCode: number = EXIT.fine
  const program = buildProgram(io, (code) => {
    exitCode = code
  })
  divertOutput(program, io)
  try {
    await program.parseAsync([...io.argv], { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError && isHelp(error)) {
      // Help that was asked for is data; help in place of a missing command is wrong usage.
      return error.exitCode === 0 ? EXIT.fine : EXIT.usage
    }
    const failure = failureOf(error)
    io.stderr.write(failureText(failure, io.argv.includes('--json')))
    return failure.exitCode
  }
}

function isHelp({ code }: CommanderError): boolean {
  return code === 'commander.help' || code === 'commander.helpDisplayed' || code === 'commander.version'
}

/** Every command, so that none of them writes or exits by itself. */
function divertOutput(command: Command, io: CliIo): void {
  command.exitOverride()
  command.configureOutput({
    writeOut: (text) => {
      io.stdout.write(text)
    },
    writeErr: (text) => {
      io.stderr.write(text)
    },
    // Errors are written once, by runCli, in the form that was asked for.
    outputError: () => undefined,
  })
  for (const child of command.commands) divertOutput(child, io)
}
