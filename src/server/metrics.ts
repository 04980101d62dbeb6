/**
 * The numbers that Prometheus reads.
 *
 * @module
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { CommitCounters } from '../commit/counters.js'
import type { ReceiverEvent } from '../receiver/types.js'

/** Why the server turned a call away before the receiver saw it. */
export type RefusalCause = 'body_too_large' | 'unexpected_body' | 'bad_target' | 'bad_encoding'

export interface Metrics {
  readonly registry: Registry
  observe(event: ReceiverEvent): void
  observeGroup(size: number): void
  countLost(): void
  countRefused(cause: RefusalCause): void
}

export interface MetricsOptions {
  readonly networkNames: readonly string[]
  /** Claims that wait or run now. */
  readonly queueDepth: () => number
  /** Messages that no relay has delivered yet; null where nothing counts them. */
  readonly outboxPending?: () => Promise<number | null>
  /** Calls that the inbox did not keep: beyond the cap, and given up. */
  readonly inbox?: () => InboxLosses
  /** How often each path of the group commit was taken. */
  readonly commit?: () => Readonly<Partial<CommitCounters>>
  readonly now?: () => number
}

/** Counted since the start. */
export interface InboxLosses {
  readonly suppressed: number
  readonly lost: number
}

const NO_LOSSES: InboxLosses = Object.freeze({ suppressed: 0, lost: 0 })

/** Anybody can call any network name; only configured ones may become a label, or the series would grow for ever. */
const UNKNOWN_NETWORK = 'unknown'

/** Makes the metrics in a registry of their own, so that two servers in one process do not mix. */
export function createMetrics(options: MetricsOptions): Metrics {
  const { networkNames, queueDepth, outboxPending, inbox, commit, now = Date.now } = options
  const registry = new Registry()
  const registers = [registry]
  const known = new Set(networkNames)
  const labelOf = (network: string): string => (known.has(network) ? network : UNKNOWN_NETWORK)

  // Counted here and handed over when somebody reads them, because finding a series by its labels costs as much as the
  // rest of an answer's account together.
  const answered = new Map<string, Map<string, number>>()
  new Counter({
    name: 'paidonce_postbacks_total',
    help: 'Postbacks answered, by network and outcome.',
    labelNames: ['network', 'outcome'],
    registers,
    collect() {
      this.reset()
      for (const [network, outcomes] of answered) {
        for (const [outcome, count] of outcomes) this.inc({ network, outcome }, count)
      }
    },
  })
  const seconds = new Histogram({
    name: 'paidonce_answer_seconds',
    help: 'Seconds from the arrival of a postback to its answer.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4],
    registers,
  })
  const groups = new Histogram({
    name: 'paidonce_group_size',
    help: 'Claims committed together.',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers,
  })
  const lastVerified = new Map<string, number>()
  new Gauge({
    name: 'paidonce_last_verified_timestamp_seconds',
    help: 'When the last verified postback of a network arrived, in seconds since 1970.',
    labelNames: ['network'],
    registers,
    collect() {
      for (const [network, seconds] of lastVerified) this.set({ network }, seconds)
    },
  })
  const lost = new Counter({
    name: 'paidonce_lost_before_parsing_total',
    help: 'Calls that were no valid HTTP and never reached the receiver.',
    registers,
  })
  const refused = new Counter({
    name: 'paidonce_refused_before_receiver_total',
    help: 'Calls turned away before the receiver read them, by cause.',
    labelNames: ['cause'],
    registers,
  })
  const counted = (name: string, help: string, read: (losses: InboxLosses) => number): void => {
    new Counter({
      name,
      help,
      registers,
      collect() {
        // The receiver counts; a scrape takes its count over.
        this.reset()
        this.inc(read(inbox?.() ?? NO_LOSSES))
      },
    })
  }
  counted(
    'paidonce_inbox_suppressed_total',
    'Unverified calls that were answered and not kept, because of inbox.rejectedPerMinute.',
    ({ suppressed }) => suppressed,
  )
  counted(
    'paidonce_inbox_lost_total',
    'Inbox rows given up, because too many waited or the database stayed away.',
    (losses) => losses.lost,
  )
  new Counter({
    name: 'paidonce_commit_events_total',
    help: 'How often each path of the group commit was taken, by event.',
    labelNames: ['event'],
    registers,
    collect() {
      this.reset()
      for (const [event, count] of Object.entries(commit?.() ?? {}))
        this.inc({ event: snakeCase(event) }, count)
    },
  })
  new Gauge({
    name: 'paidonce_queue_depth',
    help: 'Claims that wait or run now.',
    registers,
    collect() {
      this.set(queueDepth())
    },
  })
  new Gauge({
    name: 'paidonce_outbox_pending',
    help: 'Messages written with the ledger and not delivered yet.',
    registers,
    async collect() {
      this.set((await outboxPending?.()) ?? 0)
    },
  })

  return {
    registry,
    observe(event) {
      const network = labelOf(event.network)
      const outcomes = answered.get(network) ?? new Map<string, number>()
      answered.set(network, outcomes)
      outcomes.set(event.outcome, (outcomes.get(event.outcome) ?? 0) + 1)
      seconds.observe(event.milliseconds / 1000)
      if (event.verified) lastVerified.set(network, Math.floor(now() / 1000))
    },
    observeGroup(size) {
      groups.observe(size)
    },
    countLost() {
      lost.inc()
    },
    countRefused(cause) {
      refused.inc({ cause })
    },
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
