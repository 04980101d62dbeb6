/**
 * `paidonce inbox`: the calls as they were received.
 *
 * @module
 */
import { PaidonceError } from '../../errors.js'
import { explainReason } from '../../inbox/explain.js'
import { redactBody, redactHeaders, redactUrl } from '../../inbox/redact.js'
import type { Postback, PostbackFilter } from '../../ledger/store.js'
import { formatMinor } from '../../money.js'
import type { Outcome } from '../../outcome.js'
import { resolveAdminNetworks } from '../../server/admin-networks.js'
import { postbackDetail, postbackView } from '../../server/api-views.js'
import { openReceiver } from '../open-receiver.js'
import { readSettings, withStore, type CommandRun, type GlobalOptions } from '../context.js'
import { COUNT_LIMIT, countRejected } from '../count-rejected.js'
import { EXIT } from '../failure.js'
import { refuseUnknownNetworks } from '../known-networks.js'
import { alignPairs, alignTable, type Column } from '../table.js'

export interface InboxFilterOptions extends GlobalOptions {
  readonly network?: readonly string[]
  readonly user?: readonly string[]
  readonly transaction?: readonly string[]
  readonly outcome?: readonly Outcome[]
  readonly open?: boolean
  readonly since?: Date
  readonly until?: Date
  readonly q?: string
}

export interface InboxListOptions extends InboxFilterOptions {
  readonly limit: number
  readonly cursor?: string
}

export const inboxList: CommandRun<InboxListOptions> = async (context, options) => {
  const { out } = context
  const { settings } = await readSettings(context)
  return withStore(settings, async (store) => {
    await refuseUnknownNetworks(store, settings, options.network ?? [])
    const page = { limit: options.limit, cursor: options.cursor ?? null }
    const { items, nextCursor } = await store.listPostbacks(filterFrom(options), page)
    if (out.json) {
      const networks = resolveAdminNetworks(settings)
      out.printJson({ items: items.map((row) => postbackView(row, { store, networks })), nextCursor })
      return EXIT.fine
    }
    if (items.length === 0) out.note(nextCursor === null ? 'No calls.' : 'No calls so far.')
    else out.print(alignTable(items, columns(store.amountScale)))
    if (nextCursor !== null) out.note(`There are more: --cursor ${nextCursor}`)
    return EXIT.fine
  })
}

export const inboxShow: CommandRun<GlobalOptions> = async (context, _, [id = '']) => {
  const { out } = context
  const { settings } = await readSettings(context)
  return withStore(settings, async (store) => {
    const row = await store.readPostback(id)
    if (row === null) throw unknownPostback(id)
    const networks = resolveAdminNetworks(settings)
    if (out.json) out.printJson(postbackDetail(row, { store, networks }))
    else out.print(alignPairs(details(row, store.amountScale, networks.get(row.network)?.redact ?? {})))
    return EXIT.fine
  })
}

export interface InboxResolveOptions extends GlobalOptions {
  readonly reason: string
}

export const inboxResolve: CommandRun<InboxResolveOptions> = async (context, { reason }, [id = '']) => {
  const { out } = context
  const { settings } = await readSettings(context)
  return withStore(settings, async (store) => {
    if ((await store.readPostback(id)) === null) throw unknownPostback(id)
    const resolved = await store.resolvePostback(id, reason)
    if (out.json) out.printJson({ id, resolved })
    else out.print(resolved ? `${id} is closed.` : `${id} was not open; nothing changed.`)
    return EXIT.fine
  })
}

export interface InboxReprocessOptions extends InboxFilterOptions {
  readonly apply?: boolean
}

export const inboxReprocess: CommandRun<InboxReprocessOptions> = async (context, options) => {
  const { out } = context
  const { apply = false } = options
  const { settings } = await readSettings(context)
  return withStore(settings, async (store) => {
    await refuseUnknownNetworks(store, settings, options.network ?? [])
    const receiver = openReceiver(store, settings)
    try {
      await receiver.start()
      const filter = filterFrom(options)
      const result = await receiver.reprocess(filter, !apply)
      const notLookedAt = isPlain(filter) ? await countRejected(store, filter) : {}
      if (out.json) out.printJson({ dryRun: !apply, ...result, notLookedAt })
      else {
        const counts = Object.entries(result.counts)
        if (counts.length === 0) out.note('No kept call fits.')
        else
          out.print(
            alignTable(counts, [
              { title: apply ? 'OUTCOME' : 'WOULD BE', value: ([outcome]) => outcome },
              { title: 'CALLS', value: ([, count]) => String(count), right: true },
            ]),
          )
        for (const [outcome, count] of Object.entries(notLookedAt)) out.note(notLookedAtNote(outcome, count))
        if (!apply && counts.length > 0) out.note('Nothing was booked yet: repeat the command with --apply.')
      }
      return EXIT.fine
    } finally {
      await receiver.close()
    }
  })
}

/** Whether only open calls are run again, because nothing says which ones. */
function isPlain({ outcome, open, transactionId }: PostbackFilter): boolean {
  return outcome === undefined && open === undefined && transactionId === undefined
}

function notLookedAtNote(outcome: string, count: number): string {
  const calls =
    count === 1
      ? '1 rejected call was'
      : `${count >= COUNT_LIMIT ? `At least ${count}` : count} rejected calls were`
  return `${calls} not looked at: --outcome ${outcome}`
}

function filterFrom(options: InboxFilterOptions): PostbackFilter {
  const { network, user, transaction, outcome, open, since, until, q } = options
  return {
    ...(network === undefined ? {} : { network }),
    ...(user === undefined ? {} : { user }),
    ...(transaction === undefined ? {} : { transactionId: transaction }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(open === undefined ? {} : { open }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(q === undefined ? {} : { q }),
  }
}

function columns(scale: number): readonly Column<Postback>[] {
  return [
    { title: 'ID', value: (row) => row.id },
    { title: 'RECEIVED', value: (row) => row.receivedAt.toISOString() },
    { title: 'NETWORK', value: (row) => row.network },
    { title: 'OUTCOME', value: (row) => (row.open ? `${row.outcome} (open)` : row.outcome) },
    { title: 'TRANSACTION', value: (row) => row.transactionId ?? '-' },
    { title: 'ENTRY', value: (row) => row.entry ?? '-' },
    { title: 'USER', value: (row) => row.user ?? '-' },
    { title: 'AMOUNT', value: (row) => amountText(row, scale), right: true },
    { title: 'ANSWER', value: (row) => String(row.answer.status), right: true },
    { title: 'REASON', value: (row) => row.reason ?? '' },
  ]
}

/** A network that sends its secret as it is must not have it shown. */
type Redaction = Parameters<typeof redactUrl>[1]

function details(row: Postback, scale: number, redact: Redaction): [string, string][] {
  const advice = row.reason ?? (row.open ? row.outcome : null)
  return [
    ['id', row.id],
    ['network', row.network],
    ['received', row.receivedAt.toISOString()],
    ['call', `${row.method} ${redactUrl(row.url.toString('latin1'), redact)}`],
    ['headers', JSON.stringify(redactHeaders(row.headers, redact))],
    ['body', redactBody(row.body.toString('utf8'), redact)],
    ['from', row.ip],
    ['verified', row.verified ? 'yes' : 'no'],
    ['transaction', row.transactionId ?? '-'],
    ['entry', row.entry ?? '-'],
    ['user', row.user ?? '-'],
    ['amount', amountText(row, scale)],
    ['outcome', row.outcome],
    ['reason', row.reason ?? '-'],
    ['answer', `${row.answer.status} ${row.answer.body} (${row.milliseconds} ms)`],
    ['open', row.open ? 'yes' : 'no'],
    ...(row.resolvedReason === null ? [] : [['resolved', row.resolvedReason] as [string, string]]),
    ...(advice === null ? [] : [['to do', explainReason(advice)] as [string, string]]),
  ]
}

function amountText({ amount }: Postback, scale: number): string {
  return amount === null ? '-' : formatMinor(amount, scale)
}

function unknownPostback(id: string): PaidonceError {
  return new PaidonceError('unknown_postback', `The inbox holds no call ${JSON.stringify(id)}.`, {
    hint: 'List the kept calls with "paidonce inbox list".',
  })
}
