/**
 * `paidonce send`: sends a fresh signed postback, N copies at once.
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import type { Settings } from '../../server/settings.js'
import { apiReader, apiRefusal, askApi, type BookingKey, type BookingReader } from '../booking-reader.js'
import { checkBooking, type Booking } from '../check-booking.js'
import { readSettings, type CommandRun, type Context } from '../context.js'
import { EXIT } from '../failure.js'
import { fireAtOnce, splitUrl, type HttpCall } from '../http-call.js'
import { adminAddress, postbackAddress, readCall } from '../network-tools.js'
import { readToken } from '../read-token.js'
import { shotExit } from '../shot-exit.js'
import { shownUrl } from '../shown-url.js'
import { accepted, refusalNotes, tallyReplies, tallyText } from '../tally.js'
import { signFrom, type SignedPostback, type SignOptions } from './sign.js'

export interface SendOptions extends SignOptions {
  readonly copies: number
  readonly to?: string
  readonly adminUrl?: string
  readonly tokenFile?: string
}

export const send: CommandRun<SendOptions> = async (context, options) => {
  const { out } = context
  const { settings } = await readSettings(context)
  const signed = signFrom(settings, { ...options, ...baseOf(options) })
  const call = callOf(signed, options)
  const { claim } = readCall(settings, options.network, call)
  const key = claim === null ? null : { ...claim, network: options.network }
  const reader = await findReader(context, settings, call.origin, options)

  const before = await readBooking(context, reader, key)
  const tally = tallyReplies(await fireAtOnce(call, options.copies))
  const after = before === null ? null : await readBooking(context, reader, key)
  const booked =
    before === null || after === null || claim === null
      ? null
      : checkBooking(claim.entry, before, after, settings.amountScale)

  const url = shownUrl(settings, options.network, call)
  if (out.json) {
    const { transactionId } = signed
    out.printJson({ url, transactionId, copies: options.copies, ...tally, booked })
  } else {
    out.note(`${signed.method} ${url}`)
    out.print(tallyText(tally))
    for (const note of refusalNotes(tally)) out.note(note)
    if (booked !== null) out.print(`booked: ${booked.message}`)
    else if (reader === null && settings.adminToken === null && options.tokenFile === undefined)
      out.note('What was booked is told where PAIDONCE_ADMIN_TOKEN (or --token-file) is set.')
  }
  // A script that sends must not take a call that was refused, or booked nowhere, for a reward.
  return !accepted(tally) || booked?.rows === 0 ? EXIT.found : shotExit(tally)
}

/** A signature over the URL is made for the address that the network calls; the call may go elsewhere. */
function callOf({ url, method, headers, body }: SignedPostback, { to, network }: SendOptions): HttpCall {
  const own = splitUrl(url)
  const destination = to === undefined ? null : splitUrl(postbackAddress(to, network))
  const query = own.target.includes('?') ? own.target.slice(own.target.indexOf('?')) : ''
  return {
    method,
    origin: destination?.origin ?? own.origin,
    target: destination === null ? own.target : destination.target + query,
    headers,
    body: Buffer.from(body),
  }
}

/** The admin API, where a token is given and taken; that it cannot be read must not keep a call from being sent. */
async function findReader(
  context: Context,
  settings: Settings,
  origin: string,
  { adminUrl, tokenFile }: SendOptions,
): Promise<BookingReader | null> {
  const admin = adminAddress(settings, origin, adminUrl)
  const token = await readToken(context, settings, tokenFile)
  if (token === null) return null
  const status = await askApi(admin, token)
  if (status === 200) return apiReader(admin, token, settings.amountScale)
  context.out.note(`${apiRefusal(admin, status)} What was booked is not known.`)
  return null
}

async function readBooking(
  { out }: Context,
  reader: BookingReader | null,
  key: BookingKey | null,
): Promise<Booking | null> {
  if (reader === null || key === null) return null
  try {
    return await reader.read(key)
  } catch (error) {
    if (!(error instanceof PaidonceError)) throw error
    out.note(`${error.message} What was booked is not known.`)
    return null
  }
}

/** Signed for `--base`; without it for where it is sent. */
function baseOf({ base, to }: SendOptions): { readonly base?: string } {
  if (base !== undefined) return { base }
  return to === undefined ? {} : { base: to }
}
