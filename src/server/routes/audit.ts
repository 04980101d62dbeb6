/**
 * Audits: start one, read the last one.
 *
 * @module
 */
import type { Hono } from 'hono'
import type { AdminContext, AdminEnv } from '../admin-context.js'
import type { AuditStatus } from '../audit-runner.js'
import { readQuery } from '../request-values.js'

export function addAuditRoutes(app: Hono<AdminEnv>, { audit }: AdminContext): void {
  app.post('/api/v1/audit', (call) => {
    readQuery(call, [])
    return call.json(auditView(audit.start()), 202)
  })
  app.get('/api/v1/audit', (call) => {
    readQuery(call, [])
    return call.json(auditView(audit.status()))
  })
}

function auditView({ state, startedAt, report }: AuditStatus): object {
  return {
    state,
    startedAt: startedAt?.toISOString() ?? null,
    finishedAt: report?.finishedAt.toISOString() ?? null,
    findings: report?.findings ?? [],
    counts: report?.counts ?? null,
    checked: report?.checked ?? null,
  }
}
