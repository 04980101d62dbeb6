/**
 * The files of the repository: what git tracks or would add, or, in an unpacked archive, everything that is no result
 * of a build.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

const BUILT = new Set(['node_modules', 'dist', 'data', 'coverage', '.cache', '.git'])

/** Paths from the root, with `/`, in alphabetical order. */
export function trackedFiles(): string[] {
  const files = existsSync(join(ROOT, '.git')) ? listedByGit() : walk(ROOT)
  return files.filter((file) => existsSync(join(ROOT, file))).sort()
}

export function readTracked(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

function listedByGit(): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  return listed.split('\0').filter((file) => file !== '')
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return BUILT.has(entry.name) ? [] : walk(path)
    return [relative(ROOT, path).replaceAll('\\', '/')]
  })
}
