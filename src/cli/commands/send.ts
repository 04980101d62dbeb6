/**
 * `paidonce send`: sends a fresh signed postback, N copies at once.
 *
 * @module
 */
import type { CommandRun } from '../context.js'
import { readSettings } from '../context.js'
import { fireAtOnce, splitUrl, type HttpCall } from '../http-call.js'
import { adminOrigin, postbackAddress, receiverBase } from '../network-tools.js'
import { apiAnswers, apiReader } from '../booking-reader.js'
import { checkBooking } from '../check-booking.js'
import { readToken } from '../read-token.js'
import { refusalNotes, tallyReplies, tallyText } from '../tally.js'
import { shotExit } from '../shot-exit.js'
import { readCall } from '../network-tools.js'
import { signFrom, type SignOptions } from './sign.js'

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
  // A signature over the URL is made for the address that the network calls; the call may go elsewhere.
  const destination = options.to === undefined ? null : splitUrl(postbackAddress(options.to, options.network))
  const own = splitUrl(signed.url)
  const query = own.target.includes('?') ? own.target.slice(own.target.indexOf('?')) : ''
  const call: HttpCall = {
    method: signed.method,
    origin: destination?.origin ?? own.origin,
    target: destination === null ? own.target : destination.target + query,
    headers: signed.headers,
    body: Buffer.from(signed.body),
  }

  const token = await readToken(context, settings, options.tokenFile)
  const admin =
    options.adminUrl ?? (call.origin === receiverBase(settings) ? adminOrigin(settings) : call.origin)
  const reader =
    token !== null && (await apiAnswers(admin, token)) ? apiReader(admin, token, settings.amountScale) : null
  const { claim } = readCall(settings, options.network, call)
  const key = claim === null || reader === null ? null : { ...claim, network: options.network }

  const before = key === null || reader === null ? null : await reader.read(key)
  const tally = tallyReplies(await fireAtOnce(call, options.copies))
  const after = key === null || reader === null ? null : await reader.read(key)
  const booked =
    before === null || after === null || claim === null
      ? null
      : checkBooking(claim.entry, before, after, settings.amountScale)

  if (out.json) {
    out.printJson({
      url: signed.url,
      transactionId: signed.transactionId,
      copies: options.copies,
      ...tally,
      booked,
    })
  } else {
    out.note(`${signed.method} ${call.origin}${call.target}`)
    out.print(tallyText(tally))
    for (const note of refusalNotes(tally)) out.note(note)
    if (booked !== null) out.print(`booked: ${booked.message}`)
    else if (token === null)
      out.note('What was booked is told where PAIDONCE_ADMIN_TOKEN (or --token-file) is set.')
  }
  return shotExit(tally)
}

/** Signed for `--base`; without it for where it is sent. */
function baseOf({ base, to }: SendOptions): { readonly base?: string } {
  if (base !== undefined) return { base }
  return to === undefined ? {} : { base: to }
}
