/**
 * `paidonce explain`: why a transaction, or each recent transaction of a user, was or was not paid.
 *
 * @module
 */
import { explainTransaction } from '../../inbox/explain.js'
import type { LedgerStore, Postback } from '../../ledger/store.js'
import type { LedgerEntry } from '../../ledger/types.js'
import { formatMinor } from '../../money.js'
import { resolveAdminNetworks } from '../../server/admin-networks.js'
import { entryView, postbackView } from '../../server/api-views.js'
import type { Settings } from '../../server/settings.js'
import { readSettings, withStore, type CommandRun, type GlobalOptions } from '../context.js'
import { EXIT, usageError } from '../failure.js'
import { idSpacesOf } from '../network-tools.js'
import { refuseUnknownNetworks } from '../known-networks.js'
import type { Output } from '../output.js'
import { shellWord } from '../shell-word.js'
import { alignTable } from '../table.js'

export interface ExplainOptions extends GlobalOptions {
  readonly network?: string
  readonly user?: string
  readonly limit: number
}

/** Calls shown of one transaction; a network that repeats itself says nothing new. */
const SHOWN_CALLS = 10

interface Explained {
  readonly network: string
  readonly transactionId: string
  readonly entries: readonly LedgerEntry[]
  readonly postbacks: readonly Postback[]
  readonly sentence: string
}

export const explain: CommandRun<ExplainOptions> = async (context, options, [transactionId]) => {
  const { user } = options
  if ((transactionId === undefined) === (user === undefined)) {
    throw usageError(
      'Give either a transaction id or --user.',
      'For instance: paidonce explain tx-123 --network demo',
    )
  }
  const { settings } = await readSettings(context)
  return withStore(settings, async (store) => {
    await refuseUnknownNetworks(store, settings, options.network === undefined ? [] : [options.network])
    const explained =
      user === undefined
        ? await explainOne(store, settings, transactionId ?? '', options)
        : await explainUser(store, settings, user, options)
    if (context.out.json) {
      const networks = resolveAdminNetworks(settings)
      const items = explained.map((item) => explainedJson(item, { store, networks }))
      context.out.printJson(user === undefined ? { items } : { user, items })
    } else if (explained.length === 0) {
      context.out.print(
        `Nothing is known of user ${JSON.stringify(user)}: no entry, and no call that names them.`,
      )
    } else {
      explained.forEach((item, index) => {
        if (index > 0) context.out.print('')
        printExplained(context.out, item, store.amountScale, user !== undefined)
      })
    }
    return EXIT.fine
  })
}

/** One transaction id in every network that knows it. */
async function explainOne(
  store: LedgerStore,
  settings: Settings,
  transactionId: string,
  { network }: ExplainOptions,
): Promise<Explained[]> {
  const used = await store.usedIdSpaces()
  const names =
    network === undefined
      ? [...new Set([...Object.keys(settings.networks), ...used.map((space) => space.network)])]
      : [network]
  const all = await Promise.all(
    names.map((name) => gather(store, name, transactionId, idSpacesOf(settings, name, used))),
  )
  const known = all.filter(({ entries, postbacks }) => entries.length + postbacks.length > 0)
  if (known.length > 0) return known
  const unknown = { transactionId, entries: [], postbacks: [] }
  return [
    explainFacts(store, { ...unknown, network: names.length === 1 ? (names[0] ?? '') : names.join(', ') }),
  ]
}

async function gather(
  store: LedgerStore,
  network: string,
  transactionId: string,
  idSpaces: readonly string[],
): Promise<Explained> {
  const found = await Promise.all(idSpaces.map((idSpace) => store.readTransaction(idSpace, transactionId)))
  const filter = { transactionId: [transactionId], network: [network] }
  const { items } = await store.listPostbacks(filter, { limit: 500, cursor: null })
  return explainFacts(store, { network, transactionId, entries: found.flat(), postbacks: items })
}

/** The newest transactions of a user: the ones with entries, and the ones of which only calls are known. */
async function explainUser(
  store: LedgerStore,
  settings: Settings,
  user: string,
  { network, limit }: ExplainOptions,
): Promise<Explained[]> {
  const page = { limit, cursor: null }
  const entries = (await store.listEntries(user, page)).items.filter(isOfNetwork)
  const filter = { user: [user], ...(network === undefined ? {} : { network: [network] }) }
  const calls = (await store.listPostbacks(filter, page)).items
  const keys = new Map<string, { network: string; transactionId: string; at: number }>()
  const note = (name: string, id: string, at: Date): void => {
    const key = `${name}\u0000${id}`
    const known = keys.get(key)
    if (known === undefined || known.at < at.getTime()) {
      keys.set(key, { network: name, transactionId: id, at: at.getTime() })
    }
  }
  for (const entry of entries) note(entry.network, entry.transactionId, entry.createdAt)
  for (const call of calls)
    if (call.transactionId !== null) note(call.network, call.transactionId, call.receivedAt)
  const wanted = [...keys.values()]
    .filter((key) => network === undefined || key.network === network)
    .sort((a, b) => b.at - a.at)
    .slice(0, limit)
  const used = await store.usedIdSpaces()
  const explained: Explained[] = []
  // One after the other: a hundred at once would wait for the pool's few connections until they time out.
  for (const { network: name, transactionId } of wanted) {
    explained.push(await gather(store, name, transactionId, idSpacesOf(settings, name, used)))
  }
  return explained
}

function isOfNetwork({ entry }: LedgerEntry): boolean {
  return entry === 'credit' || entry === 'reversal'
}

function explainFacts(store: LedgerStore, facts: Omit<Explained, 'sentence'>): Explained {
  return { ...facts, sentence: explainTransaction({ ...facts, amountScale: store.amountScale }) }
}

function explainedJson(
  { network, transactionId, sentence, entries, postbacks }: Explained,
  context: Parameters<typeof postbackView>[1],
): object {
  return {
    network,
    transactionId,
    explanation: sentence,
    entries: entries.map((entry) => entryView(entry, context.store.amountScale)),
    postbacks: postbacks.map((row) => postbackView(row, context)),
  }
}

function printExplained(out: Output, item: Explained, scale: number, brief: boolean): void {
  out.print(`${out.bold(`${item.network} ${item.transactionId}`)}: ${item.sentence}`)
  if (brief) return
  if (item.entries.length > 0) {
    out.print('')
    out.print(
      alignTable(item.entries, [
        { title: 'ENTRY', value: (row) => row.entry },
        { title: 'USER', value: (row) => row.user },
        { title: 'AMOUNT', value: (row) => formatMinor(row.amount, scale), right: true },
        { title: 'DECISION', value: (row) => row.decision },
        { title: 'AT', value: (row) => row.createdAt.toISOString() },
      ]),
    )
  }
  if (item.postbacks.length > 0) {
    out.print('')
    out.print(
      alignTable(item.postbacks.slice(0, SHOWN_CALLS), [
        { title: 'CALL', value: (row) => row.id },
        { title: 'AT', value: (row) => row.receivedAt.toISOString() },
        { title: 'OUTCOME', value: (row) => row.outcome },
        { title: 'ANSWER', value: (row) => String(row.answer.status) },
        { title: 'REASON', value: (row) => row.reason ?? '' },
      ]),
    )
    if (item.postbacks.length > SHOWN_CALLS) {
      out.note(
        `The newest ${SHOWN_CALLS} calls of ${item.postbacks.length}; all with "paidonce inbox list --network ${shellWord(item.network)} --transaction ${shellWord(item.transactionId)}".`,
      )
    }
  }
}
