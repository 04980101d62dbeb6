/**
 * `paidonce replay`: sends a call that exists already, as it was, N times at once.
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import type { Settings } from '../../server/settings.js'
import { readSettings, withStore, type CommandRun, type Context, type GlobalOptions } from '../context.js'
import { apiReader, apiRefusal, askApi, storeReader, type BookingReader } from '../booking-reader.js'
import { checkBooking, type BookingCheck } from '../check-booking.js'
import { EXIT, usageError } from '../failure.js'
import { fireAtOnce, splitUrl, type HttpCall } from '../http-call.js'
import { adminAddress, networkNamed, networkOfTarget, readCall, receiverBase } from '../network-tools.js'
import { readToken } from '../read-token.js'
import { shotExit } from '../shot-exit.js'
import { shownUrl } from '../shown-url.js'
import { refusalNotes, tallyReplies, tallyText, type Tally } from '../tally.js'

export interface ReplayOptions extends GlobalOptions {
  readonly copies: number
  readonly check?: boolean
  readonly to?: string
  readonly network?: string
  readonly method?: string
  readonly adminUrl?: string
  readonly tokenFile?: string
}

/** A call with the network that it belongs to, where that is known. */
interface Replayed {
  readonly call: HttpCall
  readonly network: string | null
}

const INBOX_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

export const replay: CommandRun<ReplayOptions> = async (context, options, [subject = '']) => {
  const { settings } = await readSettings(context)
  if (options.network !== undefined) networkNamed(settings, options.network)
  if (options.adminUrl !== undefined) adminAddress(settings, '', options.adminUrl)
  const replayed = INBOX_ID.test(subject)
    ? await fromInbox(settings, subject.toLowerCase(), options)
    : fromUrl(settings, subject, options)
  const { tally, check } =
    options.check === true
      ? await sendAndCheck(context, settings, replayed, options)
      : { tally: tallyReplies(await fireAtOnce(replayed.call, options.copies)), check: null }
  const url = shownUrl(settings, replayed.network, replayed.call)
  report(context, { ...replayed, url }, options.copies, tally, check)
  return check?.ok === false ? EXIT.found : shotExit(tally)
}

function fromUrl(settings: Settings, url: string, { to, network, method }: ReplayOptions): Replayed {
  const { origin, target } = splitUrl(url)
  return {
    call: {
      method: (method ?? 'GET').toUpperCase(),
      origin: to === undefined ? origin : splitUrl(to).origin,
      target,
      headers: {},
      body: Buffer.alloc(0),
    },
    network: network ?? networkOfTarget(settings, target),
  }
}

async function fromInbox(settings: Settings, id: string, { to }: ReplayOptions): Promise<Replayed> {
  const row = await withStore(settings, (store) => store.readPostback(id))
  if (row === null) {
    throw new PaidonceError('unknown_postback', `The inbox holds no call ${id}.`, {
      hint: 'List the kept calls with "paidonce inbox list".',
    })
  }
  return {
    call: {
      method: row.method,
      origin: splitUrl(to ?? receiverBase(settings)).origin,
      target: row.url.toString('latin1'),
      headers: JSON.parse(row.headers) as HttpCall['headers'],
      body: row.body,
    },
    network: row.network,
  }
}

async function sendAndCheck(
  context: Context,
  settings: Settings,
  { call, network }: Replayed,
  options: ReplayOptions,
): Promise<{ tally: Tally; check: BookingCheck }> {
  if (network === null) {
    throw usageError(
      'The URL does not tell which network it belongs to.',
      'Name it with --network, so that --check knows which transaction to look for.',
    )
  }
  networkNamed(settings, network)
  const { claim, outcome } = readCall(settings, network, call)
  if (claim === null) {
    const why =
      outcome === null ? '' : `: ${outcome.outcome}${outcome.reason === null ? '' : ` (${outcome.reason})`}`
    throw new PaidonceError('bad_request', `This call asks for no booking that could be checked${why}.`, {
      hint: 'Check the URL, and that this configuration has the secret and the profile of the server.',
    })
  }
  // The admin API tells the entries of a transaction id; only the database tells those of one key of several parts.
  const useApi = claim.transactionKey === claim.transactionId
  return withReader(context, settings, useApi ? call.origin : null, options, async (reader) => {
    const key = { ...claim, network }
    const before = await reader.read(key)
    const tally = tallyReplies(await fireAtOnce(call, options.copies))
    const after = await reader.read(key)
    return { tally, check: checkBooking(claim.entry, before, after, settings.amountScale) }
  })
}

/** Reads through the admin API where it can be reached with a token, else from the database. */
async function withReader<T>(
  context: Context,
  settings: Settings,
  origin: string | null,
  { adminUrl, tokenFile }: ReplayOptions,
  work: (reader: BookingReader) => Promise<T>,
): Promise<T> {
  const token = await readToken(context, settings, tokenFile)
  if (token !== null && origin !== null) {
    const admin = adminAddress(settings, origin, adminUrl)
    const status = await askApi(admin, token)
    if (status === 200) {
      context.out.note(`Checking through the admin API at ${admin}.`)
      return work(apiReader(admin, token, settings.amountScale))
    }
    context.out.note(`${apiRefusal(admin, status)} Reading the database.`)
  }
  return withStore(settings, (store) => work(storeReader(store, settings)))
}

function report(
  { out }: Context,
  { call, network, url }: Replayed & { readonly url: string },
  copies: number,
  tally: Tally,
  check: BookingCheck | null,
): void {
  if (out.json) {
    out.printJson({ url, method: call.method, network, copies, ...tally, check })
    return
  }
  out.print(tallyText(tally))
  for (const note of refusalNotes(tally)) out.note(note)
  if (check !== null) out.print(`${check.ok ? out.green('ok') : out.red('FAILED')}: ${check.message}`)
}
