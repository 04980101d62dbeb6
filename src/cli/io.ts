/**
 * What a command sees of the process that runs it, so that it can be run in a test as well.
 *
 * @module
 */

export interface CliStream {
  readonly isTTY?: boolean
  write(text: string): unknown
}

export interface CliIo {
  /** The arguments after the program's name. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdout: CliStream
  readonly stderr: CliStream
  /** Hands SIGINT and SIGTERM to a command that ends in order; without it they end the process. */
  readonly onSignal?: (listener: (signal: string) => void) => void
  /** Ends the process at once, for a second signal. */
  readonly exit?: (code: number) => void
}
