/**
 * The receiver: reads and verifies a call, has it committed with others, and answers by the network's own rule.
 *
 * @module
 */
import { lookUpProfile } from '../catalogue/index.js'
import { createCommitter, type Committer } from '../commit/committer.js'
import type { Settlement } from '../commit/pending.js'
import { StoreError } from '../errors.js'
import { RejectedBudget } from '../inbox/rejected-budget.js'
import { makeRow, type Arrival } from '../inbox/row.js'
import { InboxWriter } from '../inbox/writer.js'
import type { GroupItem } from '../ledger/group.js'
import type { LedgerStore, PostbackFilter, StoreFinding } from '../ledger/store.js'
import { OPEN_GATE, type Claim } from '../ledger/types.js'
import type { Answer, Settled } from '../outcome.js'
import type { PostbackClaim } from '../postback/claim.js'
import { resolveNetwork, type Network } from '../postback/network.js'
import type { RawRequest } from '../postback/raw-request.js'
import { readPostback } from '../postback/read.js'
import { answerBudgetMs, answerOf, headersOf, MAX_ANSWER_MS } from './answering.js'
import { compileClientAddress, type ClientAddress } from './client-address.js'
import { resolveIdSpaces } from './id-spaces.js'
import { postbackIds } from './postback-ids.js'
import { reprocessPostbacks } from './reprocess.js'
import { calledName, compileRoutes, type Routes } from './routes.js'
import { StartGate } from './start-gate.js'
import type {
  OperatorClaim,
  Receiver,
  ReceiverOptions,
  ReceiverRequest,
  ReceiverResponse,
  ReceiverStatus,
  ReprocessResult,
} from './types.js'

/** Sender addresses of verified calls that are remembered from this many days back. */
const KNOWN_ADDRESS_DAYS = 90

/**
 * Makes a receiver on a store.
 *
 * @throws PaidonceError `config_invalid` that names the key, the value and what was expected.
 * @example
 * ```ts
 * import { createReceiver } from 'paidonce'
 * import { memoryStore } from 'paidonce/memory'
 *
 * const receiver = createReceiver({
 *   store: memoryStore(),
 *   networks: { sharklio: { profile: 'sharklio', secret: 'the postback key of the dashboard' } },
 * })
 * const { status } = await receiver.handle({
 *   method: 'GET', url: '/postback/sharklio?tx=1', headers: {}, body: new Uint8Array(), remoteAddress: '203.0.113.7',
 * })
 * console.log(status) // 403: nothing in it is signed
 * ```
 */
export function createReceiver(options: ReceiverOptions): Receiver {
  return new GroupReceiver(options)
}

class GroupReceiver implements Receiver {
  readonly networkNames: readonly string[]
  readonly #options: ReceiverOptions
  readonly #store: LedgerStore
  readonly #networks: ReadonlyMap<string, Network>
  readonly #routes: Routes
  readonly #clientAddress: ClientAddress
  readonly #committer: Committer
  readonly #writer: InboxWriter
  readonly #budget: RejectedBudget
  readonly #now: () => number
  readonly #newId: () => string
  #idSpaces: ReadonlyMap<string, string> = new Map()
  readonly #gate: StartGate<readonly StoreFinding[]>
  #closing = false

  constructor(options: ReceiverOptions) {
    this.#options = options
    this.#store = options.store
    this.#networks = resolveNetworks(options)
    this.networkNames = [...this.#networks.keys()]
    this.#routes = compileRoutes(this.#networks, options.basePath ?? '/postback')
    this.#clientAddress = compileClientAddress(options.trustProxy)
    this.#committer = createCommitter(options.store, options.commit)
    this.#writer = new InboxWriter(options.store)
    this.#budget = new RejectedBudget(options.inbox?.rejectedPerMinute ?? 600)
    this.#now = options.now ?? Date.now
    this.#newId = options.newId ?? postbackIds()
    this.#gate = new StartGate(
      () => this.#start(),
      (error) => {
        this.#tell(error)
      },
    )
  }

  start(): Promise<readonly StoreFinding[]> {
    return this.#gate.start()
  }

  async handle(request: ReceiverRequest): Promise<ReceiverResponse> {
    const arrivedAt = performance.now()
    const network = this.#routes.find(request.url)
    if (network === null) return this.#answerUnrouted(request, arrivedAt, 404, 'unknown_network')
    if (!(network.methods as readonly string[]).includes(request.method)) {
      return this.#answerUnrouted(request, arrivedAt, 405, 'method_not_allowed', network)
    }
    if (!this.#gate.isOpen && !(await this.#gate.opensWithin(answerBudgetMs(network)))) {
      const settled: Settled = { outcome: 'overloaded', reason: 'not_started' }
      return this.#respond(network, settled, answerOf(network, settled, null), arrivedAt, false)
    }
    const arrival = this.#read(request, network)
    if (!arrival.reading.verified) return this.#refuse(network, arrival, arrivedAt)
    this.#budget.remember(network.name, arrival.request.remoteAddress)
    return this.#commit(network, arrival, arrivedAt)
  }

  async reprocess(filter: PostbackFilter, dryRun: boolean): Promise<ReprocessResult> {
    await this.start()
    return reprocessPostbacks(
      {
        store: this.#store,
        networks: this.#networks,
        idSpaceOf: (network) => this.#idSpaceOf(network),
        submit: (item) => this.#committer.submit(item, 0, performance.now() + MAX_ANSWER_MS),
      },
      filter,
      dryRun,
    )
  }

  async settle(claim: OperatorClaim): Promise<Settled> {
    await this.start()
    const id = this.#newId()
    const item: GroupItem = {
      id,
      claim: {
        ...claim,
        postbackId: id,
        amount: null,
        receivedAmount: null,
        unit: 'coins',
        rate: null,
        recordOnly: false,
        gate: OPEN_GATE,
        eventId: null,
        offer: null,
        payout: null,
      },
      fixed: null,
      row: () => null,
    }
    const settlement = await this.#committer.submit(item, 0, performance.now() + MAX_ANSWER_MS)
    return settlement.settled
  }

  status(): ReceiverStatus {
    const inbox = { suppressed: this.#budget.suppressed, lost: this.#writer.lost }
    return { ...this.#committer.status(), inbox }
  }

  async close(): Promise<void> {
    this.#closing = true
    await this.#committer.drain()
    await this.#writer.close()
  }

  async #start(): Promise<readonly StoreFinding[]> {
    const findings = await this.#store.start()
    this.#idSpaces = resolveIdSpaces(this.#networks.values(), await this.#store.usedIdSpaces())
    void this.#rememberSenders()
    return findings
  }

  /** Only who is kept when forged traffic floods the inbox depends on it, so no call waits for it. */
  async #rememberSenders(): Promise<void> {
    const since = new Date(this.#now() - KNOWN_ADDRESS_DAYS * 86_400_000)
    try {
      for (const { network, ip } of await this.#store.verifiedAddresses(since, 10_000)) {
        this.#budget.remember(network, ip)
      }
    } catch (error) {
      this.#tell(error)
    }
  }

  #tell(error: unknown): void {
    if (error instanceof StoreError) this.#options.commit?.onStoreError?.(error)
    else this.#options.commit?.onBug?.(error)
  }

  #read(request: ReceiverRequest, network: Network): Arrival {
    const id = this.#newId()
    const raw: RawRequest = {
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: Buffer.isBuffer(request.body) ? request.body : Buffer.from(request.body),
      remoteAddress: this.#clientAddress(request),
    }
    const reading = readPostback(raw, network, { amountScale: this.#store.amountScale, postbackId: id })
    return {
      id,
      network: network.name,
      idSpace: this.#idSpaceOf(network),
      receivedAt: new Date(this.#now()),
      request: raw,
      reading,
    }
  }

  /** A call that nobody vouches for never touches the ledger, and what it may write is bounded. */
  #refuse(network: Network, arrival: Arrival, arrivedAt: number): ReceiverResponse {
    const settled = arrival.reading.outcome as Settled
    const answer = answerOf(network, settled, arrival.reading)
    const { request } = arrival
    const bytes = request.url.length + request.body.length
    if (this.#budget.allows(network.name, request.remoteAddress, bytes, this.#now())) {
      this.#writer.keep(makeRow(arrival, settled, answer, elapsed(arrivedAt)))
    }
    return this.#respond(network, settled, answer, arrivedAt, false)
  }

  async #commit(network: Network, arrival: Arrival, arrivedAt: number): Promise<ReceiverResponse> {
    const { reading, request } = arrival
    let left: Answer | null = null
    const item: GroupItem = {
      id: arrival.id,
      claim: reading.claim === null ? null : claimOf(reading.claim, arrival.idSpace),
      fixed: reading.outcome,
      row: (settled) =>
        makeRow(arrival, settled, left ?? answerOf(network, settled, reading), elapsed(arrivedAt)),
    }
    const bytes = request.url.length + request.body.length
    const settlement = await this.#committer.submit(item, bytes, arrivedAt + answerBudgetMs(network))
    left = answerOf(network, settlement.settled, reading)
    this.#keepUncommitted(arrival, settlement, left, arrivedAt)
    return this.#respond(network, settlement.settled, left, arrivedAt, true)
  }

  /** What no transaction wrote is kept all the same, and a row that was written says which answer really left. */
  #keepUncommitted(arrival: Arrival, settlement: Settlement, answer: Answer, arrivedAt: number): void {
    if (settlement.fate === 'committed') return
    if (settlement.fate === 'late') {
      void settlement.truth.then((truth) => {
        if (truth.fate === 'committed') this.#writer.correct({ id: arrival.id, answer })
        else this.#keepUncommitted(arrival, truth, answer, arrivedAt)
      })
      return
    }
    this.#writer.keep(makeRow(arrival, settlement.settled, answer, elapsed(arrivedAt)))
    if (settlement.fate === 'unknown') this.#writer.correct({ id: arrival.id, answer })
  }

  #idSpaceOf(network: Network): string {
    return this.#idSpaces.get(network.name) ?? network.idSpace
  }

  #respond(
    network: Network,
    settled: Settled,
    answer: Answer,
    arrivedAt: number,
    verified: boolean,
  ): ReceiverResponse {
    this.#options.observe?.({
      network: network.name,
      outcome: settled.outcome,
      reason: settled.reason,
      verified,
      status: answer.status,
      milliseconds: performance.now() - arrivedAt,
    })
    return {
      status: answer.status,
      headers: headersOf(answer.status, this.#closing),
      body: answer.body,
      outcome: settled.outcome,
    }
  }

  #answerUnrouted(
    request: ReceiverRequest,
    arrivedAt: number,
    status: 404 | 405,
    outcome: 'unknown_network' | 'method_not_allowed',
    network?: Network,
  ): ReceiverResponse {
    this.#options.observe?.({
      network: network?.name ?? calledName(request.url),
      outcome,
      reason: null,
      verified: false,
      status,
      milliseconds: performance.now() - arrivedAt,
    })
    const allow = network === undefined ? null : network.methods.join(', ')
    const body = status === 404 ? 'unknown network' : 'method not allowed'
    return { status, headers: headersOf(status, this.#closing, allow), body, outcome: null }
  }
}

function resolveNetworks(options: ReceiverOptions): ReadonlyMap<string, Network> {
  const resolve = options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }
  return new Map(
    Object.entries(options.networks).map(([name, config]) => [
      name,
      resolveNetwork(name, config, lookUpProfile, resolve),
    ]),
  )
}

function claimOf(claim: PostbackClaim, idSpace: string): Claim {
  // Property by property, as in the ledger: a spread of this many costs more than to check the signature.
  return {
    postbackId: claim.postbackId,
    network: claim.network,
    idSpace,
    transactionKey: claim.transactionKey,
    transactionId: claim.transactionId,
    entry: claim.entry,
    user: claim.user,
    amount: claim.amount,
    receivedAmount: claim.receivedAmount,
    unit: claim.unit,
    rate: claim.rate,
    test: claim.test,
    recordOnly: claim.recordOnly,
    gate: OPEN_GATE,
    eventId: claim.eventId,
    offer: claim.offer,
    payout: claim.payout,
    actor: claim.actor,
    reason: claim.reason,
  }
}

function elapsed(since: number): number {
  return Math.round(performance.now() - since)
}
