/**
 * What the routes of the admin API work with.
 *
 * @module
 */
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { LedgerStore } from '../ledger/store.js'
import type { Network } from '../postback/network.js'
import type { Receiver } from '../receiver/types.js'
import type { RedactOptions } from '../inbox/redact.js'
import type { AdminToken } from './admin-token.js'
import type { AuditRunner } from './audit-runner.js'
import type { Logger } from './logger.js'
import type { Metrics } from './metrics.js'
import type { Readiness } from './readiness.js'

/** One configured network as the admin API needs it. */
export interface AdminNetwork {
  readonly network: Network
  /** What must not be shown of its calls. */
  readonly redact: RedactOptions
}

export interface AdminContext {
  readonly store: LedgerStore
  readonly receiver: Pick<Receiver, 'reprocess'>
  readonly networks: ReadonlyMap<string, AdminNetwork>
  readonly token: Pick<AdminToken, 'accepts'>
  readonly metrics: Metrics
  readonly readiness: () => Promise<Readiness>
  readonly audit: AuditRunner
  readonly ledgerId: string | null
  readonly logger: Logger
  /** For lines that a caller can cause; limited. */
  readonly traffic: Logger
}

export interface AdminEnv {
  Bindings: Partial<HttpBindings>
}

export type AdminCall = Context<AdminEnv>
