/**
 * Imports point one way. The table that says which is the one in ARCHITECTURE.md, read here, so that the document and
 * the check are the same text.
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { areaOf, sourceImports, targetOf, type SourceImport } from './source-imports.js'
import { readTracked, ROOT, trackedFiles } from './tracked-files.js'

const IMPORTS = sourceImports()

/** Drivers and frameworks belong to the app; only who uses one has to have it. */
const PEERS = /^(pg|mysql2|better-sqlite3|express|fastify|koa|next|hono)(\/|$)|^node:sqlite$/

/** Folders whose functions give the same for the same input; crypto and addresses are arithmetic, not I/O. */
const PURE = ['errors', 'ids', 'money', 'outcome', 'postback', 'catalogue', 'ledger']
const PURE_MODULES = ['node:crypto', 'node:net']

describe('imports', () => {
  it('follow the table in ARCHITECTURE.md', () => {
    const table = readTable()
    const faults = IMPORTS.flatMap((one) => {
      const target = targetOf(one)
      if (target === null) return []
      const [from, to] = [areaOf(one.file), areaOf(target)]
      const allowed = table.get(from) ?? []
      return from === to || allowed.includes(to) || allowed.includes('*')
        ? []
        : [`${one.file} imports ${target}; "${from}" may import ${allowed.join(', ') || 'nothing'}`]
    })
    expect(faults).toEqual([])
  })

  it('are in the table for every area', () => {
    const areas = new Set(trackedFiles().filter(isSource).map(areaOf))
    expect([...readTable().keys()].sort()).toEqual([...areas].sort())
  })

  it('never lead from one store to another', () => {
    const faults = IMPORTS.filter((one) => {
      const target = targetOf(one)
      if (target === null) return false
      const [from, to] = [areaOf(one.file), areaOf(target)]
      return from.startsWith('stores/') && to.startsWith('stores/') && from !== to
    })
    expect(faults).toEqual([])
  })

  it('of the server by the package root stop at the settings', () => {
    const targets = IMPORTS.filter(({ file }) => file === 'src/index.ts').map(targetOf)
    const ofServer = targets.filter((target) => target?.startsWith('src/server/'))
    expect(ofServer.filter((target) => target !== 'src/server/settings.ts')).toEqual([])
  })

  it('load drivers and frameworks only when they are used', () => {
    // The standalone server is built on Hono, which is a dependency of its own there and no peer.
    const faults = IMPORTS.filter(
      ({ file, specifier, kind }) =>
        kind === 'static' &&
        PEERS.test(specifier) &&
        !(file.startsWith('src/server/') && /^hono(\/|$)/.test(specifier)),
    )
    expect(faults).toEqual([])
  })

  it('bring no I/O into the pure folders', () => {
    const faults = IMPORTS.filter(
      ({ file, specifier, kind }) =>
        PURE.includes(areaOf(file)) &&
        kind !== 'type' &&
        targetOf({ file, specifier, kind }) === null &&
        !PURE_MODULES.includes(specifier),
    )
    expect(faults).toEqual([])
  })
})

describe('a source file', () => {
  it('imports only files of src and what package.json names', () => {
    const manifest = JSON.parse(readTracked('package.json')) as Record<string, Record<string, string>>
    const names = (...fields: string[]): string[] =>
      fields.flatMap((field) => Object.keys(manifest[field] ?? {}))
    const atRun = names('dependencies', 'optionalDependencies', 'peerDependencies')
    const atBuild = [...atRun, ...names('devDependencies')]
    const faults = IMPORTS.filter((one) => {
      const target = targetOf(one)
      if (target !== null) return !target.startsWith('src/') || !isFile(target)
      if (one.specifier.startsWith('node:')) return false
      return !(one.kind === 'type' ? atBuild : atRun).includes(packageOf(one))
    })
    expect(faults).toEqual([])
  })

  it('reads no file outside the package', () => {
    const faults = trackedFiles()
      .filter(isSource)
      .flatMap((file) => {
        const folder = join('/package', file, '..')
        return [...readTracked(file).matchAll(/new URL\(\s*'([^']+)',\s*import\.meta\.url/g)]
          .map(([, path = '']) => join(folder, path))
          .filter((path) => !path.startsWith('/package'))
          .map((path) => `${file} names ${path}`)
      })
    expect(faults).toEqual([])
  })
})

/** Rows such as "| `commit` | `ledger`, `errors` |"; "everything" is `*`, a dash is nothing. */
function readTable(): Map<string, string[]> {
  const text = readTracked('ARCHITECTURE.md')
  const start = text.indexOf('<!-- imports -->')
  const end = text.indexOf('<!-- /imports -->')
  expect(start, 'ARCHITECTURE.md marks its import table').toBeGreaterThan(0)
  const rows = text.slice(start, end).matchAll(/^\|\s*`([^`]+)`\s*\|([^|]*)\|/gm)
  return new Map(
    [...rows].map(([, area = '', allowed = '']) => [
      area,
      allowed.includes('everything') ? ['*'] : [...allowed.matchAll(/`([^`]+)`/g)].map(([, to = '']) => to),
    ]),
  )
}

function isSource(file: string): boolean {
  return file.startsWith('src/') && file.endsWith('.ts')
}

function isFile(file: string): boolean {
  const path = join(ROOT, file)
  return existsSync(path) && statSync(path).isFile()
}

function packageOf({ specifier }: SourceImport): string {
  const [scope = '', name = ''] = specifier.split('/')
  return scope.startsWith('@') ? `${scope}/${name}` : scope
}
