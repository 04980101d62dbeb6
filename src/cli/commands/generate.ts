/**
 * `paidonce generate`: prints the whole schema as SQL for the host's own migration tool.
 *
 * @module
 */
import { openStore } from '../../server/open-store.js'
import { readSettings, type CommandRun, type GlobalOptions } from '../context.js'
import { EXIT } from '../failure.js'

export const generate: CommandRun<GlobalOptions> = async (context) => {
  const { out } = context
  const { settings } = await readSettings(context)
  // The schema is the same for every SQLite file, and opening one that does not exist would create it.
  const database = settings.database.startsWith('sqlite:') ? 'sqlite::memory:' : settings.database
  const store = await openStore({ ...settings, database })
  try {
    const sql = await store.migrationSql('all')
    if (out.json) out.printJson({ dialect: store.dialect, sql })
    else out.print(sql.trimEnd())
    return EXIT.fine
  } finally {
    await store.close()
  }
}
