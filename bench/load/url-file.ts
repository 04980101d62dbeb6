/**
 * Files of signed paths, one a line, in the order of their plan. wrk reads them while it loads, so that signing costs
 * nothing then.
 *
 * @module
 */
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { callAt, signedPath, type CallPlan } from './calls.js'

const LINES_AT_ONCE = 5_000

export interface UrlFile {
  readonly path: string
  readonly plan: CallPlan
  readonly lines: number
}

export interface UrlFiles {
  /** The file of a plan with at least so many lines; written where it is not there yet. */
  fileOf(plan: CallPlan, lines: number): Promise<UrlFile>
  /** Deletes all of them. */
  clear(): Promise<void>
}

/** Rivals and rounds share the files: each of their runs starts on an empty database. */
export function createUrlFiles(folder: string): UrlFiles {
  const files = new Map<string, UrlFile>()
  let serial = 0
  return {
    async fileOf(plan, lines) {
      const key = JSON.stringify(plan)
      const known = files.get(key)
      if (known !== undefined && known.lines >= lines) return known
      await mkdir(folder, { recursive: true })
      serial += 1
      const file = { path: join(folder, `urls-${serial}.txt`), plan, lines }
      await writeUrls(file)
      files.set(key, file)
      return file
    },
    async clear() {
      for (const { path } of files.values()) await rm(path, { force: true })
      files.clear()
    },
  }
}

async function writeUrls({ path, plan, lines }: UrlFile): Promise<void> {
  const file = await open(path, 'w')
  try {
    for (let start = 0; start < lines; start += LINES_AT_ONCE) {
      const count = Math.min(LINES_AT_ONCE, lines - start)
      const paths = Array.from({ length: count }, (_, offset) => signedPath(callAt(plan, start + offset)))
      await file.write(`${paths.join('\n')}\n`)
    }
  } finally {
    await file.close()
  }
}
