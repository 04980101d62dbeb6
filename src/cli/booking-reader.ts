/**
 * Reads what was booked, through the admin API or from the database itself.
 *
 * @module
 */
import { PaidonceError } from '../errors.js'
import type { LedgerStore } from '../ledger/store.js'
import { parseMinor } from '../money.js'
import type { Settings } from '../server/settings.js'
import { idSpacesOf } from './network-tools.js'
import type { Booking, StoredBooking } from './check-booking.js'

export interface BookingReader {
  /** Where it reads, for the reader of the output. */
  readonly source: string
  read(key: BookingKey): Promise<Booking>
}

/** Which transaction, and whose wallet where no entry names one yet. */
export interface BookingKey {
  readonly network: string
  readonly transactionKey: string
  readonly transactionId: string
  readonly user: string
}

/** Reads from an open store. */
export function storeReader(store: LedgerStore, settings: Settings): BookingReader {
  return {
    source: 'the database',
    async read({ network, transactionKey, user }) {
      const [idSpace = network] = idSpacesOf(settings, network, await store.usedIdSpaces())
      const found = await store.readTransaction(idSpace, transactionKey)
      const entries = found.filter((entry) => entry.transactionKey === transactionKey).map(bookingOf)
      const wallet = await store.readWallet(ownerOf(entries, user))
      return { entries, balance: wallet?.balance ?? null }
    },
  }
}

/** Reads through the admin API at `origin`. */
export function apiReader(origin: string, token: string, amountScale: number): BookingReader {
  const get = async (path: string): Promise<unknown> => {
    const response = await fetch(`${origin}/api/v1${path}`, {
      headers: { authorization: `Bearer ${token}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(10_000),
    }).catch((cause: unknown) => {
      throw new PaidonceError('overloaded', apiRefusal(origin, null), { cause })
    })
    if (response.status === 404) return null
    if (!response.ok) throw refusedByApi(origin, response.status)
    return response.json()
  }
  return {
    source: `the admin API at ${origin}`,
    async read({ network, transactionId, user }) {
      const path = `/transactions/${encodeURIComponent(network)}/${encodeURIComponent(transactionId)}`
      const transaction = (await get(path)) as { entries?: readonly ApiEntry[] } | null
      const entries = (transaction?.entries ?? []).map((entry) => fromApi(entry, amountScale))
      const wallet = (await get(`/wallets/${encodeURIComponent(ownerOf(entries, user))}`)) as {
        balance: string
      } | null
      return { entries, balance: wallet === null ? null : minorOf(wallet.balance, amountScale) }
    },
  }
}

/** What the admin API there answers to the token: 200 where it takes it, null where nothing answers. */
export async function askApi(origin: string, token: string): Promise<number | null> {
  try {
    const response = await fetch(`${origin}/api/v1/audit`, {
      headers: { authorization: `Bearer ${token}` },
      redirect: 'manual',
      signal: AbortSignal.timeout(3_000),
    })
    await response.arrayBuffer()
    return response.ok ? 200 : response.status
  } catch {
    return null
  }
}

/** Why the admin API is not read, for the reader of the output. */
export function apiRefusal(origin: string, status: number | null): string {
  if (status === null) return `Nothing answers as the admin API at ${origin}.`
  return `The admin API at ${origin} answered ${status}.${status === 401 ? ` ${TOKEN_HINT}` : ''}`
}

const TOKEN_HINT =
  'Give the token that the server printed at its first start with PAIDONCE_ADMIN_TOKEN or --token-file.'

interface ApiEntry {
  readonly entry: string
  readonly user: string
  readonly amount: string
}

function fromApi({ entry, user, amount }: ApiEntry, scale: number): StoredBooking {
  return { entry, user, amount: minorOf(amount, scale) }
}

function minorOf(text: string, scale: number): bigint {
  const minor = parseMinor(text, scale)
  if (minor !== null) return minor
  throw new PaidonceError('ledger_mismatch', `The admin API gave the amount ${JSON.stringify(text)}.`, {
    hint: `This command's configuration says ${scale} decimals; give it the server's configuration.`,
  })
}

function refusedByApi(origin: string, status: number): PaidonceError {
  const code = status === 401 ? 'unauthorized' : 'overloaded'
  return new PaidonceError(code, `The admin API at ${origin} answered ${status}.`, {
    hint:
      status === 401
        ? TOKEN_HINT
        : 'Look at the log of the server, or of the proxy before it, and repeat the command.',
  })
}

const bookingOf = ({ entry, user, amount }: StoredBooking): StoredBooking => ({ entry, user, amount })

/** A reversal moves the wallet of the stored credit, whatever the call says. */
function ownerOf(entries: readonly StoredBooking[], user: string): string {
  return entries.find(({ entry }) => entry === 'credit')?.user ?? user
}
