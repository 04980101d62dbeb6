// Writes src/catalogue/profiles.generated.ts from the folders in catalogue/, so that a bundler cannot lose a
// profile. With --check it only says whether the file is up to date, and exits 1 where it is not.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'src/catalogue/profiles.generated.ts')

const names = readdirSync(join(root, 'catalogue'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)
  .sort()

const entries = names.map((name) => {
  const folder = join(root, 'catalogue', name)
  const profile = JSON.parse(readFileSync(join(folder, 'profile.json'), 'utf8'))
  if (profile.id !== name) throw new Error(`catalogue/${name}/profile.json has the id "${profile.id}".`)
  const setup = readFileSync(join(folder, 'setup.md'), 'utf8')
  return `  ${JSON.stringify(name)}: ${JSON.stringify({ profile, setup }, null, 2).replaceAll('\n', '\n  ')},`
})

const text = `// Generated from catalogue/ by scripts/generate-catalogue.mjs; change the files there and run it again.

/** The catalogue's folders by name; the profiles are checked when they are looked up. */
// prettier-ignore
export const CATALOGUE: Readonly<Record<string, { readonly profile: unknown; readonly setup: string }>> = {
${entries.join('\n')}
}
`

if (process.argv.includes('--check')) {
  let current = ''
  try {
    current = readFileSync(target, 'utf8')
  } catch {
    // A missing file is as stale as an old one.
  }
  if (current !== text) {
    console.error('src/catalogue/profiles.generated.ts is stale: run node scripts/generate-catalogue.mjs')
    process.exit(1)
  }
} else {
  writeFileSync(target, text)
}
