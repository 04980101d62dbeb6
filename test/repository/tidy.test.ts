/**
 * What nobody should have to remember: leftovers, names, and that everything with a name is documented.
 */
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { readTracked, ROOT, trackedFiles } from './tracked-files.js'

/** Texts that people wrote; the lock file is npm's. */
const TEXTS = trackedFiles().filter((file) => file !== 'package-lock.json' && !/\.(png|ico|svg)$/.test(file))
const SOURCES = TEXTS.filter((file) => /\.(ts|mjs|js)$/.test(file))

/** Files of more than 400 lines, each with the reason why it is one. */
const LONG_FILES: Readonly<Record<string, string>> = {
  'src/testing/store-suite-rule.ts': 'every line of the rule, each a test of its own',
  'test/server/admin-api.test.ts': 'one route after the other',
  'test/server/config.test.ts': 'one setting after the other',
}
const LONGEST = 400

describe('leftovers', () => {
  it.each([
    [
      'markers of unfinished work',
      new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b`),
    ],
    ['paths of one machine', /(^|[\s'"`(=:])\/(home|root|Users|work)\/[\w.-]/],
    ['conflict markers', /^(<{7}|>{7}) /],
  ])('holds no %s', (_title, pattern) => {
    expect(linesWith(TEXTS, pattern)).toEqual([])
  })

  it('leaves no test out and runs none alone', () => {
    const tests = SOURCES.filter((file) => file.startsWith('test/'))
    expect(linesWith(tests, /\b(describe|it|test)\.(only|skip|todo)\b/)).toEqual([])
  })

  it('names no package registry of its own', () => {
    // A lock file without addresses lets everybody install from the registry that is set up where they are.
    expect(readTracked('package-lock.json')).not.toMatch(/"resolved": "https?:/)
    expect(trackedFiles().filter((file) => /(^|\/)\.npmrc$/.test(file))).toEqual([])
    expect(linesWith(TEXTS, /\bregistry\s*=\s*https?:/)).toEqual([])
  })
})

describe('files', () => {
  it('have names in kebab-case', () => {
    const names = TEXTS.filter((file) => /^(src|test|scripts|catalogue|docs)\//.test(file))
    const odd = names.filter(
      (file) =>
        !file
          .split('/')
          .every((part) => part === 'README.md' || /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)*$/.test(part)),
    )
    expect(odd).toEqual([])
  })

  it(`have at most ${LONGEST} lines, or are named here with the reason`, () => {
    const long = SOURCES.filter(
      (file) => !file.endsWith('.generated.ts') && readTracked(file).split('\n').length - 1 > LONGEST,
    )
    expect(long.sort()).toEqual(Object.keys(LONG_FILES).sort())
  })

  it('export by name', () => {
    const sources = SOURCES.filter((file) => file.startsWith('src/'))
    expect(linesWith(sources, /^export default\b/)).toEqual([])
  })
})

describe('the catalogue', () => {
  it('has profile, samples and set-up for every network', () => {
    const files = TEXTS.filter((file) => file.startsWith('catalogue/'))
    const folders = [...new Set(files.map((file) => file.split('/')[1] ?? ''))].filter((folder) =>
      files.some((file) => file.startsWith(`catalogue/${folder}/`)),
    )
    expect(folders.length).toBeGreaterThan(0)
    for (const folder of folders) {
      for (const part of ['profile.json', 'samples.json', 'setup.md']) {
        expect(files).toContain(`catalogue/${folder}/${part}`)
      }
    }
  })

  it('is generated from its folders', () => {
    execFileSync(process.execPath, ['scripts/generate-catalogue.mjs', '--check'], { cwd: ROOT })
  })
})

function linesWith(files: readonly string[], pattern: RegExp): string[] {
  return files.flatMap((file) =>
    readTracked(file)
      .split('\n')
      .flatMap((line, index) =>
        pattern.test(line) ? [`${file}:${index + 1}: ${line.trim().slice(0, 120)}`] : [],
      ),
  )
}
