/**
 * `paidonce doctor`: settings and where they come from, the database, the networks, and whether they can be reached.
 *
 * @module
 */
import type { LedgerStore, StoreFinding } from '../../ledger/store.js'
import { PaidonceError } from '../../errors.js'
import { redactDatabaseUrl } from '../../server/database-url.js'
import type { LoadedSettings } from '../../server/config.js'
import { adminFindings } from '../../server/admin-findings.js'
import { openStore } from '../../server/open-store.js'
import type { Settings } from '../../server/settings.js'
import { refuseMissingFile, refuseOtherLedger, type CommandRun, type GlobalOptions } from '../context.js'
import { judgeSettings, type JudgedSettings } from '../doctor-settings.js'
import { failureOf, EXIT } from '../failure.js'
import { networkFindings } from '../network-findings.js'
import { probeNetworks } from '../probe.js'
import type { Output } from '../output.js'
import { alignTable, visible, type Column } from '../table.js'

export interface DoctorOptions extends GlobalOptions {
  readonly url?: string
}

export const doctor: CommandRun<DoctorOptions> = async (context, { url }) => {
  const { out } = context
  const judged = await judgeSettings(context)
  const findings = [...judged.findings, ...(await findingsOf(judged, url))]
  const rows = judged.loaded === null ? [] : settingRows(judged.loaded, judged.missing)
  if (out.json) out.printJson({ settings: rows, findings })
  else {
    if (rows.length > 0) out.print(`${alignTable(rows, COLUMNS)}\n`)
    for (const finding of findings) printFinding(out, finding)
    if (url === undefined) out.note('Reachability was not checked: give the public address with --url.')
  }
  return findings.some(({ severity }) => severity === 'refuse') ? EXIT.found : EXIT.fine
}

async function findingsOf(
  { loaded, missing }: JudgedSettings,
  url: string | undefined,
): Promise<readonly StoreFinding[]> {
  if (loaded === null) return []
  const { settings } = loaded
  return [
    ...configFindings(settings),
    ...adminFindings(settings),
    ...(await databaseFindings(settings)),
    ...Object.keys(settings.networks)
      .flatMap((name) => networkFindings(settings, name))
      // A network is not fine while something else stands for its secret.
      .filter(({ check, severity }) => severity !== 'ok' || !missing.has(`${check}.secret`)),
    ...(url === undefined ? [] : await probeNetworks(settings, url)),
  ]
}

function printFinding(out: Output, { severity, check, message, cure }: StoreFinding): void {
  const mark = { ok: out.green('ok    '), warn: out.yellow('warn  '), refuse: out.red('refuse') }[severity]
  out.print(`${mark}  ${check}: ${visible(message)}`)
  if (cure !== null) for (const line of cure.split('\n')) out.print(`        ${out.dim(line)}`)
}

interface SettingRow {
  readonly key: string
  readonly value: string
  readonly origin: string
}

const COLUMNS: readonly Column<SettingRow>[] = [
  { title: 'SETTING', value: (row) => row.key },
  { title: 'VALUE', value: (row) => row.value },
  { title: 'FROM', value: (row) => row.origin },
]

function settingRows({ settings, origins }: LoadedSettings, missing: ReadonlySet<string>): SettingRow[] {
  return Object.entries(origins).map(([key, origin]) => {
    const value = missing.has(key) ? '(missing)' : shownValue(settings, key)
    return { key, value, origin }
  })
}

/** Secrets are shown as being there, and never as what they are. */
function shownValue(settings: Settings, key: string): string {
  if (key.startsWith('networks.')) {
    const name = Object.keys(settings.networks).find((known) => key === `networks.${known}`)
    const network = name === undefined ? undefined : settings.networks[name]
    if (network === undefined) return '(set)'
    return typeof network.profile === 'string' ? `profile ${network.profile}` : 'an inline profile'
  }
  if (key === 'adminToken') return settings.adminToken === null ? '(generated at the first start)' : '(set)'
  if (key === 'database') return redactDatabaseUrl(settings.database)
  const value: unknown = settings[key as keyof Settings]
  if (value === null || value === undefined) return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function configFindings({ configFile, networks }: Settings): StoreFinding[] {
  const findings: StoreFinding[] = []
  if (configFile === null) {
    findings.push({
      check: 'configuration',
      severity: 'warn',
      message: 'No configuration file was found.',
      cure: 'Write one with "paidonce init", or name one with --config.',
    })
  }
  if (Object.keys(networks).length === 0) {
    findings.push({
      check: 'networks',
      severity: 'warn',
      message: 'No network is configured, so that every postback is answered 404.',
      cure: 'Add one under "networks".',
    })
  }
  return findings
}

/** What the store finds about its database; that it cannot be reached is a finding too. */
async function databaseFindings(settings: Settings): Promise<readonly StoreFinding[]> {
  try {
    refuseMissingFile(settings)
    const store = await openStore({ ...settings, migrate: 'check' })
    try {
      const asked = Date.now()
      const clock = await store.ping()
      const answered = Date.now()
      return [
        ...(await ledgerFindings(settings, store)),
        ...(await store.inspect()),
        judgeDatabaseClock(clock.getTime(), asked, answered),
      ]
    } finally {
      await store.close()
    }
  } catch (error) {
    const { message, hint } = failureOf(error)
    return [{ check: 'database', severity: 'refuse', message, cure: hint }]
  }
}

/** Whether this is the database that `ledgerId` names. */
async function ledgerFindings(settings: Settings, store: LedgerStore): Promise<StoreFinding[]> {
  try {
    await refuseOtherLedger(settings, store)
    return []
  } catch (error) {
    if (!(error instanceof PaidonceError)) throw error
    return [{ check: 'ledgerId', severity: 'refuse', message: error.message, cure: error.hint ?? null }]
  }
}

/** Clocks that differ by more than this make the inbox's times and the ledger's tell different stories. */
const CLOCK_LIMIT_MS = 2_000

/** Entries carry the database's time and calls carry ours, so the two have to agree. */
function judgeDatabaseClock(there: number, asked: number, answered: number): StoreFinding {
  const difference = Math.max(asked - there, there - answered, 0)
  if (difference <= CLOCK_LIMIT_MS) {
    const message = "The database's clock and this machine's agree."
    return { check: 'database_clock', severity: 'ok', message, cure: null }
  }
  return {
    check: 'database_clock',
    severity: 'warn',
    message: `The database's clock and this machine's differ by ${(difference / 1000).toFixed(1)} s.`,
    cure: 'Let both machines take their time from NTP.',
  }
}
