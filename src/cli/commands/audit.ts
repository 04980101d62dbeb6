/**
 * `paidonce audit`: balances against ledger, reversals against credits, orphans.
 *
 * @module
 */
import { auditFailed, runAudit, type AuditReport, type Finding } from '../../audit/run-audit.js'
import { readSettings, withStore, type CommandRun, type GlobalOptions } from '../context.js'
import { EXIT } from '../failure.js'
import type { Output } from '../output.js'
import { visible } from '../table.js'

export const audit: CommandRun<GlobalOptions> = async (context) => {
  const { out } = context
  const { settings } = await readSettings(context)
  const report = await withStore(settings, (store) => runAudit(store))
  if (out.json) out.printJson(report)
  else printReport(out, report)
  return auditFailed(report) ? EXIT.found : EXIT.fine
}

function printReport(out: Output, { findings, counts, checked }: AuditReport): void {
  for (const finding of findings) {
    out.print(`${paint(out, finding)} ${finding.check}: ${visible(finding.message)}`)
    out.print(`  ${out.dim(finding.cure)}`)
  }
  const listed = findings.length
  const all = counts.error + counts.warning + counts.info
  if (all > listed) out.print(`… and ${all - listed} more.`)
  out.print(
    `${checked.wallets} wallets checked: ${counts.error} errors, ${counts.warning} warnings, ${counts.info} to be known.`,
  )
}

function paint(out: Output, { severity }: Finding): string {
  if (severity === 'error') return out.red(severity)
  return severity === 'warning' ? out.yellow(severity) : out.dim(severity)
}
