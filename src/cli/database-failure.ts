/**
 * What stands between a command and its database, told by the codes of the drivers and of Node.
 *
 * SQLSTATEs: PostgreSQL manual, Appendix A "PostgreSQL Error Codes"; numbers: MySQL 8.0 Error Message Reference and
 * MariaDB Error Codes.
 *
 * @module
 */
import { StoreError } from '../errors.js'

/** What happened and what cures it, as two sentences. */
export interface DatabaseFailure {
  readonly message: string
  readonly cure: string
}

/** Where the address may come from: an address of the platform that nobody remembers is a common surprise. */
export const ADDRESS_SOURCES =
  'The address comes from --database, PAIDONCE_DATABASE_URL, "database" of the configuration or DATABASE_URL, the first of them that is set; "paidonce doctor" shows which.'

/** The obstacle behind a store's failure, or null where none is recognised. */
export function databaseFailureOf(error: unknown): DatabaseFailure | null {
  const failure = chainOf(error).find((link) => link instanceof StoreError)
  if (failure === undefined) return null
  for (const link of chainOf(failure)) {
    const obstacle = OBSTACLES.find(({ is }) => is(codesOf(link)))
    if (obstacle !== undefined) {
      return { message: `${obstacle.message} (${failure.message})`, cure: obstacle.cure }
    }
  }
  return null
}

interface Obstacle extends DatabaseFailure {
  readonly is: (codes: Codes) => boolean
}

interface Codes {
  readonly code: string
  readonly number: number
  readonly message: string
}

const among =
  (...known: readonly (string | number)[]) =>
  ({ code, number }: Codes): boolean =>
    known.includes(code) || known.includes(number)

const OBSTACLES: readonly Obstacle[] = [
  {
    is: among('28P01', 1045, 1698),
    message: 'The database server does not accept this user and password.',
    cure: 'Correct the user or the password in the address; characters such as "@", "/" and "#" have to be percent-encoded there.',
  },
  {
    is: among('28000', 1130),
    message: 'This user is not let in by the database server.',
    cure: 'Check that the user exists, and that the server lets it in from this machine (PostgreSQL: pg_hba.conf; MySQL: the host part of the account).',
  },
  {
    is: among('3D000', 1049),
    message: 'The database does not exist on this server.',
    cure: 'Create it with "create database", or correct its name in the address.',
  },
  {
    is: among('42501', 1044, 1142, 1143),
    message: 'The database user lacks a right.',
    cure: 'Grant it to the user of the address, or give an address with the user that owns the tables.',
  },
  {
    is: among('ENOTFOUND', 'EAI_AGAIN'),
    message: "The database's host is not known.",
    cure: 'Correct the host in the address, and check that this machine resolves it.',
  },
  {
    is: among('ECONNREFUSED'),
    message: 'The connection to the database was refused: nothing listens at this host and port.',
    cure: 'Start the database, or correct host and port in the address.',
  },
  {
    is: (codes) =>
      among('ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH')(codes) ||
      /timeout exceeded|no connection within|connection timeout/i.test(codes.message),
    message: 'The database does not answer.',
    cure: 'Check host and port in the address, and whether a firewall stands between.',
  },
]

function codesOf(error: Error): Codes {
  const { code, errno } = error as { readonly code?: unknown; readonly errno?: unknown }
  return {
    code: typeof code === 'string' ? code : '',
    number: typeof errno === 'number' ? errno : 0,
    message: error.message,
  }
}

/** An error with its causes, and with the parts of an AggregateError, outermost first. */
function chainOf(error: unknown, depth = 0): Error[] {
  if (!(error instanceof Error) || depth > 8) return []
  const parts: readonly unknown[] = error instanceof AggregateError ? error.errors : []
  return [error, ...[error.cause, ...parts].flatMap((inner) => chainOf(inner, depth + 1))]
}
