/**
 * `paidonce migrate`: brings the schema up to date, or prints what it would do.
 *
 * @module
 */
import { openStore } from '../../server/open-store.js'
import {
  readSettings,
  refuseMissingFile,
  refuseOtherLedger,
  type CommandRun,
  type GlobalOptions,
} from '../context.js'
import { EXIT } from '../failure.js'

export interface MigrateOptions extends GlobalOptions {
  readonly dryRun?: boolean
}

export const migrate: CommandRun<MigrateOptions> = async (context, { dryRun = false }) => {
  const { out } = context
  const { settings } = await readSettings(context)
  const missing = isMissing(() => {
    refuseMissingFile(settings)
  })
  // A look at a file that does not exist would create it; all of the SQL is pending there.
  const database = dryRun && missing ? 'sqlite::memory:' : settings.database
  const store = await openStore({ ...settings, database, migrate: 'auto' })
  try {
    // Asked before the schema is touched as well: another ledger is none of ours to migrate.
    await refuseOtherLedger(settings, store)
    const pending = missing ? await store.migrationSql('all') : await store.migrationSql('pending')
    if (!dryRun) {
      await store.start()
      await refuseOtherLedger(settings, store)
    }
    const changed = pending.trim() !== ''
    if (out.json) out.printJson({ dryRun, changed, ...(dryRun ? { sql: pending } : {}) })
    else if (dryRun && changed) out.print(pending.trimEnd())
    else if (changed) out.note('The schema was brought up to date.')
    else out.note('The schema is up to date already.')
    return EXIT.fine
  } finally {
    await store.close()
  }
}

function isMissing(check: () => void): boolean {
  try {
    check()
    return false
  } catch {
    return true
  }
}
