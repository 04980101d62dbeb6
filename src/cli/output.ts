/**
 * Data goes to stdout, everything else to stderr; colour and alignment are for terminals and for readers.
 *
 * @module
 */
import pc from 'picocolors'
import type { CliIo } from './io.js'

type Paint = (text: string) => string

export interface Output {
  readonly json: boolean
  /** One line (or several) of data as text. */
  print(text: string): void
  printJson(value: unknown): void
  /** One line for the reader, on stderr. */
  note(text: string): void
  readonly bold: Paint
  readonly dim: Paint
  readonly red: Paint
  readonly yellow: Paint
  readonly green: Paint
}

export interface OutputOptions {
  readonly json: boolean
  /** False where the user asked for none; colours need a terminal besides. */
  readonly color: boolean
}

/** Makes the output of one command. `NO_COLOR` and a dumb terminal are honoured. */
export function createOutput(io: Pick<CliIo, 'env' | 'stdout' | 'stderr'>, options: OutputOptions): Output {
  const colors = pc.createColors(paints(io, options))
  return {
    json: options.json,
    print: (text) => {
      io.stdout.write(`${text}\n`)
    },
    printJson: (value) => {
      io.stdout.write(`${JSON.stringify(value, replaceBigInt, 2)}\n`)
    },
    note: (text) => {
      io.stderr.write(`${text}\n`)
    },
    bold: colors.bold,
    dim: colors.dim,
    red: colors.red,
    yellow: colors.yellow,
    green: colors.green,
  }
}

function paints({ env, stdout }: Pick<CliIo, 'env' | 'stdout'>, { json, color }: OutputOptions): boolean {
  if (!color || json || stdout.isTTY !== true) return false
  return (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
}

/** Amounts are text by the time they are printed; one that is not must not crash the command. */
function replaceBigInt(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
