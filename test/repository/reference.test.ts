/**
 * Everything that a user can meet by name stands in docs/reference.
 */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import prettier from 'prettier'
import { describe, expect, it } from 'vitest'
import { lookUpProfile } from '../../src/catalogue/index.js'
import { buildProgram } from '../../src/cli/program.js'
import { explainReason } from '../../src/inbox/explain.js'
import { OUTCOMES } from '../../src/outcome.js'
import { resolveNetwork } from '../../src/postback/network.js'
import { checkConfig } from '../../src/server/config-schema.js'
import { createMetrics } from '../../src/server/metrics.js'
import { OPENAPI } from '../../src/server/openapi.js'
import { readTracked, ROOT, trackedFiles } from './tracked-files.js'

const reference = (name: string): string => readTracked(`docs/reference/${name}.md`)

/** What is not there as `name` in a text. */
function missing(names: Iterable<string>, text: string): string[] {
  return [...names].filter((name) => !text.includes(`\`${name}\``))
}

describe('the reference', () => {
  it('has every error code', () => {
    const union = /export type ErrorCode =([\s\S]*?)\n\n/.exec(readTracked('src/errors.ts'))?.[1] ?? ''
    const codes = [...union.matchAll(/'([a-z_]+)'/g)].map(([, code = '']) => code)
    expect(codes.length).toBeGreaterThan(20)
    expect(missing(codes, reference('errors'))).toEqual([])
  })

  it('has every outcome', () => {
    expect(missing(OUTCOMES, reference('answers'))).toEqual([])
  })

  it('has every key of the configuration', () => {
    const keys = knownKeys({ unknown: 1 })
    const nested = [
      knownKeys({ wallets: { unknown: 1 } }),
      knownKeys({ tables: { unknown: 1 } }),
      knownKeys({ inbox: { unknown: 1 } }),
      knownKeys({ networks: { n: { profile: 'x', unknown: 1 } } }),
    ].flat()
    expect(keys.length).toBeGreaterThan(15)
    expect(missing([...keys, ...nested], reference('settings'))).toEqual([])
  })

  it('has every variable', () => {
    const variables = trackedFiles()
      .filter((file) => file.startsWith('src/'))
      .flatMap((file) => readTracked(file).match(/\bPAIDONCE_[A-Z_]+\b/g) ?? [])
      .filter((name) => !name.endsWith('_') && !name.endsWith('_FILE'))
    expect(missing(new Set(variables), reference('settings'))).toEqual([])
  })

  it('has every command with every option', () => {
    const text = reference('cli')
    const faults = commandsOf(program()).flatMap(({ path, command }) => {
      const section = sectionOf(text, `\`${path}\``)
      if (section === null) return [`${path}: no section`]
      const options = command.options.map(({ long }) => long ?? '').filter((long) => long !== '')
      return options
        .filter((option) => !section.includes(`\`${option}`))
        .map((option) => `${path}: ${option}`)
    })
    expect(faults).toEqual([])
    const global = program().options.map(({ long }) => long ?? '')
    expect(global.filter((option) => !text.includes(`\`${option}`))).toEqual([])
  })

  it('has every route', () => {
    const paths = OPENAPI['paths'] as Readonly<Record<string, Readonly<Record<string, object>>>>
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(missing(routes, reference('api'))).toEqual([])
  })

  it('has every metric', async () => {
    const { registry } = createMetrics({ networkNames: [], queueDepth: () => 0 })
    const names = (await registry.getMetricsAsJSON()).map(({ name }) => name)
    expect(missing(names, reference('metrics'))).toEqual([])
  })

  it('has every column of the public views', () => {
    const sql = readTracked('src/stores/sqlite/migrations.ts')
    for (const view of ['v_entries', 'v_postbacks']) {
      const body =
        new RegExp(`names\\.table\\('${view}'\\)\\} as\\nselect ([\\s\\S]*?)\\nfrom \\$`).exec(sql)?.[1] ?? ''
      const columns = body
        .replace(/\(\s*select[\s\S]*?\n\s*\)/g, '')
        .split(',')
        .map((part) => /(\w+)"?\s*$/.exec(part.trim())?.[1] ?? '')
        .filter((name) => /^[a-z_]+$/.test(name))
      expect(columns.length).toBeGreaterThan(15)
      expect(missing(columns, reference('sql-views'))).toEqual([])
    }
  })

  it('has profiles that are read as they stand', () => {
    const [example = '', inline = ''] = [...reference('profile').matchAll(/^```json\n([\s\S]*?)^```/gm)].map(
      ([, json]) => json,
    )
    expect(JSON.parse(example)).toEqual(JSON.parse(readTracked('catalogue/sharklio/profile.json')))
    const config = JSON.parse(inline) as { networks: { acme: object } }
    expect(checkConfig(config)).not.toHaveProperty('faults')
    const network = resolveNetwork('acme', { ...config.networks.acme, secret: 'x' }, lookUpProfile)
    expect(network.amounts.unit).toBe('usd')
  })

  // Written from the code: `npx vitest run test/repository/reference.test.ts -u` brings it up to date.
  it('has every reason with its advice', async () => {
    const text = readTracked('src/inbox/explain-reason.ts')
    const codes = [...text.matchAll(/^ {2}([a-z_]+):/gm)].map(([, code = '']) => code)
    const endings = [...text.matchAll(/\[\s*'(_[a-z_0-9]+)',/g)].map(([, ending = '']) => ending)
    expect(codes.length).toBeGreaterThan(30)
    const config = await prettier.resolveConfig(resolve(ROOT, 'README.md'))
    const page = await prettier.format(reasonsPage(codes, endings), { ...config, parser: 'markdown' })
    await expect(page).toMatchFileSnapshot('../../docs/reference/reasons.md')
  })
})

describe('docs', () => {
  it('link to files that exist', () => {
    const files = new Set(trackedFiles())
    const pages = [...files].filter((file) => file.endsWith('.md') && !file.startsWith('catalogue/'))
    const faults = pages.flatMap((page) =>
      [...readTracked(page).matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^(https?:|mailto:|#)/.test(link))
        .map((link) => resolve('/', page, '..', link.split('#')[0] ?? '').slice(1))
        .filter((target) => !files.has(target) && ![...files].some((file) => file.startsWith(`${target}/`)))
        .map((target) => `${page} links to ${target}`),
    )
    expect(faults).toEqual([])
  })

  it('are all reached from their index', () => {
    const index = readTracked('docs/README.md')
    const pages = trackedFiles().filter((file) => /^docs\/.+\.md$/.test(file) && file !== 'docs/README.md')
    expect(pages.filter((page) => !index.includes(`](${page.slice('docs/'.length)})`))).toEqual([])
  })
})

function knownKeys(config: unknown): string[] {
  const checked = checkConfig(config)
  if (!('faults' in checked)) throw new Error('An unknown key was accepted.')
  return checked.faults.flatMap((fault) => fault.knownKeys)
}

function program(): Command {
  const stream = { write: () => true }
  return buildProgram({ argv: [], env: {}, cwd: ROOT, stdout: stream, stderr: stream }, () => undefined)
}

/** Every command that does something, with its words. */
function commandsOf(command: Command, before: readonly string[] = []): { path: string; command: Command }[] {
  return command.commands.flatMap((child) => {
    const path = [...before, child.name()]
    return child.commands.length > 0 ? commandsOf(child, path) : [{ path: path.join(' '), command: child }]
  })
}

/** The part under a heading that names something, to the next heading of any level. */
function sectionOf(text: string, name: string): string | null {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => line.startsWith('#') && line.includes(name))
  if (start < 0) return null
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => /^#+ /.test(line))
  return rest.slice(0, end < 0 ? undefined : end).join('\n')
}

function reasonsPage(codes: readonly string[], endings: readonly string[]): string {
  const row = (shown: string, code: string): string => `| \`${shown}\` | ${explainReason(code)} |`
  return `# Reasons

Every reason code that the inbox and the ledger keep, with what \`paidonce explain\`, \`paidonce inbox show\` and the admin
API say about it. A code may be followed by \`: detail\`, such as the name of a parameter. This page is written from the
code by \`npx vitest run test/repository/reference.test.ts -u\`.

| reason | what to do |
| --- | --- |
${codes.map((code) => row(code, code)).join('\n')}

Codes that begin with the name of an id (\`transaction_id\`, \`user\`, \`event_id\`, or another role of a profile) say what is
wrong with it:

| ending | what to do |
| --- | --- |
${endings.map((ending) => row(`…${ending}`, `transaction_id${ending}`)).join('\n')}
`
}
