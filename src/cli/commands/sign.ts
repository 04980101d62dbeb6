/**
 * `paidonce sign`: prints a signed postback URL.
 *
 * @module
 */
import { signPostback, type SignedCall } from '../../postback/sign.js'
import type { Settings } from '../../server/settings.js'
import { readSettings, type CommandRun, type GlobalOptions } from '../context.js'
import { EXIT } from '../failure.js'
import { networkAddress, networkNamed, postbackAddress, profileOf, receiverBase } from '../network-tools.js'

export interface SignOptions extends GlobalOptions {
  readonly network: string
  readonly user: string
  readonly amount: string
  readonly transaction?: string
  readonly event?: string
  readonly reversal?: boolean
  readonly base?: string
}

/** A signed call with the transaction id that it was given. */
export interface SignedPostback extends SignedCall {
  readonly transactionId: string
}

/** Signs the call that the options ask for, as the network would. */
export function signFrom(settings: Settings, options: SignOptions): SignedPostback {
  const { network: name, user, amount, reversal = false, base, event } = options
  const network = networkNamed(settings, name)
  const transactionId = options.transaction ?? freshTransactionId()
  const signed = signPostback(
    profileOf(name, network),
    network.secret ?? '',
    {
      user,
      amount,
      transactionId,
      entry: reversal ? 'reversal' : 'credit',
      ...(event === undefined ? {} : { eventId: event }),
    },
    base === undefined ? networkAddress(name, network, receiverBase(settings)) : postbackAddress(base, name),
    network.params,
  )
  return { ...signed, transactionId }
}

/** An id that no network and no earlier run has used. */
export function freshTransactionId(now: Date = new Date(), random: () => number = Math.random): string {
  const suffix = Math.floor(random() * 36 ** 4)
    .toString(36)
    .padStart(4, '0')
  return `paidonce-${now.toISOString().replace(/[-:.]/g, '')}-${suffix}`
}

export const sign: CommandRun<SignOptions> = async (context, options) => {
  const { settings } = await readSettings(context)
  const signed = signFrom(settings, options)
  const { out } = context
  if (out.json) {
    out.printJson(signed)
    return EXIT.fine
  }
  out.print(signed.url)
  if (signed.method !== 'GET') {
    out.note(`Send it with ${signed.method} and this body: ${signed.body === '' ? '(none)' : signed.body}`)
    for (const [name, value] of Object.entries(signed.headers)) out.note(`${name}: ${value}`)
  }
  return EXIT.fine
}
