/**
 * What a test run says where a database server cannot be had.
 *
 * @module
 */

/** The server's program is not installed; `install` is the command that would change that. */
export class MissingServer extends Error {
  readonly install: string

  constructor(server: string, install: string) {
    super(`${server} is not installed on this machine. Install it with: ${install}`)
    this.name = 'MissingServer'
    this.install = install
  }
}
