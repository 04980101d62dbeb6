/**
 * The standalone server: the receiver on bare node:http, the admin API beside it, and their life from start to stop.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { RequestListener } from 'node:http'
import { PaidonceError } from '../errors.js'
import type { LedgerStore, StoreFinding } from '../ledger/store.js'
import { createReceiver } from '../receiver/create-receiver.js'
import type { Receiver, ReceiverOptions } from '../receiver/types.js'
import { createAdminApi } from './admin-api.js'
import { adminFindings } from './admin-findings.js'
import { createAdminListener } from './admin-listener.js'
import { resolveAdminNetworks } from './admin-networks.js'
import { claimAdminToken, type AdminToken, type AdminTokenOrigin } from './admin-token.js'
import { createAuditRunner } from './audit-runner.js'
import { createEventLog } from './event-log.js'
import { dispatch } from './dispatch.js'
import { listenHttp } from './http-server.js'
import { checkLedgerId, readLedgerId } from './ledger-id.js'
import { knownSecrets } from './known-secrets.js'
import { createLogger, type Logger } from './logger.js'
import { createMetrics, type Metrics } from './metrics.js'
import { openStore } from './open-store.js'
import { createPostbackHandler, type PostbackHandler } from './postback-handler.js'
import { startPruning } from './prune-inbox.js'
import { createReadiness } from './readiness.js'
import type { Settings } from './settings.js'
import { createStoreErrorLog } from './store-error-log.js'
import { createTrafficLog } from './traffic-log.js'

export interface StartServerOptions {
  readonly logger?: Logger
  /** Called once calls are accepted. */
  readonly onListening?: (server: RunningServer) => void
  /** Takes the place of the store that `database` names; the server closes it. */
  readonly store?: LedgerStore
  /** Takes the place of `createReceiver`. */
  readonly makeReceiver?: (options: ReceiverOptions) => Receiver
}

export interface CloseOptions {
  /** Seconds that calls are still served before listening stops; default: the setting. */
  readonly delaySeconds?: number
}

export interface RunningServer {
  /** Where the receiver listens. */
  readonly url: string
  readonly adminUrl: string
  /** The admin token where it was generated just now, to be shown once; else null. */
  readonly adminToken: string | null
  readonly adminTokenOrigin: AdminTokenOrigin
  readonly ledgerId: string | null
  readonly receiver: Receiver
  readonly store: LedgerStore
  /** Stops without cutting a call; resolves when everything is closed. Further calls give the same promise. */
  close(options?: CloseOptions): Promise<void>
}

/** Closes what was opened, the last first. */
type Undo = (() => Promise<void>)[]

/**
 * Starts the server.
 *
 * @throws PaidonceError `config_invalid`, `driver_missing`, `ledger_mismatch`, `network_missing`, `port_in_use`, or
 * what the store refuses to start with
 */
export async function startServer(
  settings: Settings,
  options: StartServerOptions = {},
): Promise<RunningServer> {
  const undo: Undo = []
  try {
    const running = await start(settings, options, undo)
    options.onListening?.(running)
    return running
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => undefined)
    throw error
  }
}

async function start(settings: Settings, options: StartServerOptions, undo: Undo): Promise<RunningServer> {
  const logger = options.logger ?? createLogger(settings.logLevel)
  // Before anything is opened: a wrong network should not leave a new database behind.
  const networks = resolveAdminNetworks(settings)
  const store = options.store ?? (await openStore(settings))
  undo.push(() => store.close())

  const traffic = createTrafficLog(logger, { secrets: knownSecrets(settings) })
  let status: Receiver['status'] | null = null
  const metrics = createMetrics({
    networkNames: [...networks.keys()],
    queueDepth: () => status?.().pending ?? 0,
    inbox: () => status?.().inbox ?? { suppressed: 0, lost: 0 },
    commit: () => status?.().counters ?? {},
  })
  const makeReceiver = options.makeReceiver ?? createReceiver
  const receiver = makeReceiver(receiverOptions(settings, store, metrics, traffic))
  status = () => receiver.status()
  undo.push(() => receiver.close())

  // Asked before the schema is touched as well: a wrong database is none of ours to migrate.
  if (settings.ledgerId !== null) checkLedgerId(settings.ledgerId, await readLedgerId(store))
  logWarnings([...(await receiver.start()), ...adminFindings(settings)], logger)
  const ledgerId = await readLedgerId(store)
  checkLedgerId(settings.ledgerId, ledgerId)

  // Claimed once the ports are bound: a start that fails on one would take the token with it.
  let token: AdminToken | null = null
  const accepts = (presented: string): boolean => {
    if (token !== null) return token.accepts(presented)
    throw new PaidonceError('overloaded', 'The server is starting.', { hint: 'Send the request again.' })
  }
  let closing = false
  const isClosing = (): boolean => closing
  const readiness = createReadiness(store, isClosing)
  const audit = createAuditRunner(store, logger)
  const shared = { store, receiver, networks, metrics, readiness, audit, ledgerId, logger, traffic }
  const admin = createAdminListener(createAdminApi({ ...shared, token: { accepts } }))
  const countRefused = metrics.countRefused.bind(metrics)
  const postback = createPostbackHandler({ receiver, traffic, countRefused, isClosing })
  const servers = await listen(settings, { postback, admin, isClosing, traffic, metrics }, undo)
  token = await claimAdminToken(store, settings.adminToken)
  const { generated, origin } = token

  const stopPruning = startPruning(store, settings.inbox, logger)
  undo.push(stopPruning)
  const facts = { url: servers.url, adminUrl: servers.adminUrl, ledgerId }
  logger.info({ ...facts, store: store.dialect, networks: receiver.networkNames }, 'Listening.')
  if (origin === 'kept') logger.info({}, TOKEN_KEPT)

  const stop = async (delaySeconds: number): Promise<void> => {
    closing = true
    logger.info({ delaySeconds }, 'Stopping: no longer ready.')
    await sleep(delaySeconds * 1000)
    for (const step of undo.reverse()) await step()
    logger.info({}, 'Stopped.')
  }
  let stopped: Promise<void> | null = null
  return {
    ...facts,
    adminToken: generated,
    adminTokenOrigin: origin,
    receiver,
    store,
    close: ({ delaySeconds = settings.shutdownDelay } = {}) => (stopped ??= stop(delaySeconds)),
  }
}

const TOKEN_KEPT =
  'The admin token is as printed at the first start; to set another one, set PAIDONCE_ADMIN_TOKEN.'

/** What the store can live with and the operator should know; a refusal has stopped the start before. */
function logWarnings(findings: readonly StoreFinding[], logger: Logger): void {
  for (const { check, severity, message, cure } of findings) {
    if (severity !== 'ok') logger.warn({ check, cure }, message)
  }
}

function receiverOptions(
  settings: Settings,
  store: LedgerStore,
  metrics: Metrics,
  traffic: Logger,
): ReceiverOptions {
  const log = createEventLog(traffic)
  return {
    store,
    networks: settings.networks,
    trustProxy: settings.trustProxy,
    inbox: settings.inbox,
    ...(settings.publicUrl === null ? {} : { publicUrl: settings.publicUrl }),
    commit: {
      onGroup: (size) => {
        metrics.observeGroup(size)
      },
      onBug: (error) => {
        traffic.error({ error: error instanceof Error ? error.stack : String(error) }, 'A group failed.')
      },
      onStoreError: createStoreErrorLog(traffic),
    },
    observe: (event) => {
      metrics.observe(event)
      log(event)
    },
  }
}

interface Listeners {
  readonly postback: PostbackHandler
  readonly admin: RequestListener
  readonly isClosing: () => boolean
  readonly traffic: Logger
  readonly metrics: Metrics
}

/** Opens one port, or two where the admin API has its own. */
async function listen(
  settings: Settings,
  listeners: Listeners,
  undo: Undo,
): Promise<{ readonly url: string; readonly adminUrl: string }> {
  const { host, port, adminPort } = settings
  const { traffic, metrics, admin, isClosing } = listeners
  const extraPaths = new Set(Object.values(settings.networks).flatMap(({ paths = [] }) => paths))
  const servesAdmin = adminPort === null || (adminPort === port && port !== 0)
  const shared = { host, traffic, countLost: metrics.countLost.bind(metrics) }

  const main = await listenHttp(dispatch({ ...listeners, extraPaths, servesAdmin }), {
    ...shared,
    port,
    setting: 'port',
  })
  undo.push(() => main.stop())
  if (servesAdmin) return { url: main.url, adminUrl: main.url }
  const adminOnly: RequestListener = (request, response) => {
    if (isClosing()) response.shouldKeepAlive = false
    admin(request, response)
  }
  const second = await listenHttp(adminOnly, { ...shared, port: adminPort, setting: 'adminPort' })
  undo.push(() => second.stop())
  return { url: main.url, adminUrl: second.url }
}
