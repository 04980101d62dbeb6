/**
 * What a source file imports, read from its syntax tree, so that examples in comments do not count.
 */
import { dirname, join, normalize } from 'node:path'
import ts from 'typescript'
import { readTracked, trackedFiles } from './tracked-files.js'

export interface SourceImport {
  readonly file: string
  readonly specifier: string
  /** `static`: loaded with the file. `lazy`: by `import()` in the running code. `type`: gone after the build. */
  readonly kind: 'static' | 'lazy' | 'type'
}

/** The imports of every file below `src/`. */
export function sourceImports(): SourceImport[] {
  return trackedFiles()
    .filter((file) => file.startsWith('src/') && file.endsWith('.ts'))
    .flatMap(importsOf)
}

function importsOf(file: string): SourceImport[] {
  const source = ts.createSourceFile(file, readTracked(file), ts.ScriptTarget.ES2023)
  const found: SourceImport[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      const isType = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      found.push({ file, specifier: node.moduleSpecifier.text, kind: isType ? 'type' : 'static' })
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
      const { text } = node.moduleSpecifier as ts.StringLiteral
      found.push({ file, specifier: text, kind: node.isTypeOnly ? 'type' : 'static' })
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments
      const specifier = argument !== undefined && ts.isStringLiteral(argument) ? argument.text : '(computed)'
      found.push({ file, specifier, kind: 'lazy' })
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      found.push({ file, specifier: (node.argument.literal as ts.StringLiteral).text, kind: 'type' })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** The file that a relative import names, from the root; null for a package. */
export function targetOf({ file, specifier }: SourceImport): string | null {
  if (!specifier.startsWith('.')) return null
  return normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts')
}

/** The area of a file below `src/`: a folder, a store, `stores` for what the stores share, or a file in the root. */
export function areaOf(file: string): string {
  const [, first = '', second, ...deeper] = file.split('/')
  if (second === undefined) return first.replace(/\.ts$/, '')
  return first === 'stores' && deeper.length > 0 ? `stores/${second}` : first
}
