/**
 * Every example that a reader may copy compiles against the sources: the `ts` blocks of the README and the docs, and the
 * examples in docstrings, wherever they import Paidonce.
 */
import { join } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { readTracked, ROOT, trackedFiles } from './tracked-files.js'

interface Example {
  /** File and line where it stands. */
  readonly place: string
  readonly text: string
}

it('every example compiles', { timeout: 120_000 }, () => {
  const examples = trackedFiles().flatMap(examplesOf)
  expect(examples.some(({ place }) => place.startsWith('README.md'))).toBe(true)
  expect(examples.some(({ place }) => place.startsWith('src/'))).toBe(true)
  expect(faultsOf(examples)).toEqual([])
})

function examplesOf(file: string): Example[] {
  const isPage = file === 'README.md' || (file.startsWith('docs/') && file.endsWith('.md'))
  const isSource = file.startsWith('src/') && file.endsWith('.ts')
  if (!isPage && !isSource) return []
  // In a docstring every line has a star before it.
  const text = isPage ? readTracked(file) : readTracked(file).replace(/^ *\* ?/gm, '')
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)]
    .map((match) => ({
      place: `${file}:${text.slice(0, match.index).split('\n').length}`,
      text: match[1] ?? '',
    }))
    .filter(({ text: code }) => /from 'paidonce(\/[a-z]+)?'/.test(code))
}

/** Compiles all examples in one program, each as a module of its own in the root of the package. */
function faultsOf(examples: readonly Example[]): string[] {
  const files = new Map(examples.map((example, index) => [join(ROOT, `example-${index}.ts`), example]))
  const options = compilerOptions()
  const host = ts.createCompilerHost(options)
  const disk = ts.createCompilerHost(options)
  host.fileExists = (name) => files.has(name) || disk.fileExists(name)
  host.readFile = (name) => files.get(name)?.text ?? disk.readFile(name)
  host.getSourceFile = (name, languageVersion, ...rest) => {
    const example = files.get(name)
    return example === undefined
      ? disk.getSourceFile(name, languageVersion, ...rest)
      : ts.createSourceFile(name, example.text, languageVersion)
  }
  const program = ts.createProgram([...files.keys()], options, host)
  return [...files].flatMap(([name, example]) => {
    const source = program.getSourceFile(name)
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText, start }) => {
        const line = example.text.slice(0, start).split('\n').length
        return `${example.place}, line ${line} of the example: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
      },
    )
  })
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: { compilerOptions: object }
  }
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT)
  // An example shows a name that its reader goes on with, and stands alone in the reader's own project.
  return { ...options, noEmit: true, noUnusedLocals: false, paths: sourcePaths(), configFilePath: undefined }
}

/** The package's own names, led to the sources that they are built from. */
function sourcePaths(): Record<string, string[]> {
  const { exports } = JSON.parse(readTracked('package.json')) as {
    exports: Readonly<Record<string, string | { readonly types: string }>>
  }
  return Object.fromEntries(
    Object.entries(exports).flatMap(([name, target]) =>
      typeof target === 'string'
        ? []
        : [
            [
              name.replace(/^\./, 'paidonce'),
              [join(ROOT, target.types.replace('./dist/', 'src/').replace(/\.d\.ts$/, '.ts'))],
            ],
          ],
    ),
  )
}
