// @ts-check
/**
 * `npm run unused [-- <path> …] [--tests] [--json]`: exports of `src` that no other file names, apart from what the entry points
 * export. Files that count as naming them: sources, tests, scripts, examples and the playground; `--tests` lists besides what
 * only tests name. Only below the paths, if there are any.
 */
import { relative, sep } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { isSource } from './direction-check.mjs'
import { entryPoints } from './entry-points.mjs'
import { root } from './setup.mjs'

/** @typedef {{ file: string, line: number, name: string, usedBy: 'nothing' | 'tests', typeOnly: boolean }} UnusedExport */

/**
 * @param {string} root
 * @param {object} options
 * @param {readonly string[]} options.files all files that may name an export
 * @param {readonly string[]} options.entries files whose exports are public
 * @param {ts.CompilerOptions} options.compilerOptions
 * @returns {{ exports: number, unused: UnusedExport[] }}
 */
export function findUnusedExports(root, { files, entries, compilerOptions }) {
  const program = ts.createProgram({ rootNames: [...files], options: compilerOptions })
  const checker = program.getTypeChecker()
  /** @param {ts.Symbol} symbol */
  const resolve = (symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  /** @param {ts.SourceFile} source */
  const toPath = (source) => relative(root, source.fileName).split(sep).join('/')
  const sources = program.getSourceFiles().filter((source) => !/^\.\.|node_modules\//.test(toPath(source)))

  const isPublic = new Set(
    sources
      .filter((source) => entries.includes(toPath(source)))
      .flatMap((source) => getExports(checker, source).map(resolve)),
  )
  const names = new Set(
    sources
      .filter((source) => toPath(source).startsWith('src/'))
      .flatMap((source) => getExports(checker, source).map(({ name }) => name)),
  )
  const uses = collectUses(sources, (node) => {
    // Aliases are resolved at the import; skipping other names saves most of the time.
    const symbol = names.has(node.text) ? symbolAt(checker, node) : undefined
    return symbol && resolve(symbol)
  })
  /** @type {UnusedExport[]} */
  const unused = []
  let exports = 0
  for (const source of sources) {
    const file = toPath(source)
    if (!file.startsWith('src/') || !isSource(file) || entries.includes(file)) continue
    for (const symbol of getExports(checker, source)) {
      // Re-exports count where they are declared.
      const declaration = symbol.declarations?.find((each) => each.getSourceFile() === source)
      if (declaration === undefined || symbol.flags & ts.SymbolFlags.Alias) continue
      exports++
      if (isPublic.has(symbol)) continue
      const users = [...(uses.get(symbol) ?? [])].filter((user) => user !== source).map(toPath)
      if (users.some((user) => (user.startsWith('src/') ? isSource(user) : !user.startsWith('test/'))))
        continue
      const { line } = source.getLineAndCharacterOfPosition(declaration.getStart())
      unused.push({
        file,
        line: line + 1,
        name: symbol.name,
        usedBy: users.length === 0 ? 'nothing' : 'tests',
        typeOnly: !(symbol.flags & ts.SymbolFlags.Value),
      })
    }
  }
  return { exports, unused }
}

/** @param {ts.TypeChecker} checker @param {ts.SourceFile} source */
function getExports(checker, source) {
  const symbol = checker.getSymbolAtLocation(source)
  return symbol ? checker.getExportsOfModule(symbol) : []
}

/**
 * Returns the symbol of an identifier; in `const { name } = await import(…)` the export, not the variable.
 * @param {ts.TypeChecker} checker
 * @param {ts.Identifier} node
 */
function symbolAt(checker, node) {
  const { parent } = node
  if (ts.isBindingElement(parent) && (parent.propertyName ?? parent.name) === node) {
    return checker.getTypeAtLocation(parent.parent).getProperty(node.text)
  }
  return checker.getSymbolAtLocation(node)
}

/**
 * Maps each symbol to the files that name it. An import or a re-export alone counts.
 * @param {readonly ts.SourceFile[]} sources
 * @param {(node: ts.Identifier) => ts.Symbol | undefined} lookUp
 */
function collectUses(sources, lookUp) {
  /** @type {Map<ts.Symbol, Set<ts.SourceFile>>} */
  const uses = new Map()
  for (const source of sources) {
    /** @param {ts.Node} node */
    const visit = (node) => {
      if (ts.isIdentifier(node)) {
        const symbol = lookUp(node)
        if (symbol) uses.set(symbol, (uses.get(symbol) ?? new Set()).add(source))
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return uses
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { tests: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  })
  if (values.help) {
    console.log('Usage: npm run unused [-- <path> …] [--tests] [--json]')
    process.exit(0)
  }
  const { config } = ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile)
  const include = [...config.include, 'docs/playground/src', 'bench']
  const { fileNames, options } = ts.parseJsonConfigFileContent({ ...config, include }, ts.sys, root)
  // The build of the light reader replaces the files of the same name above them with these.
  const standIns = fileNames
    .map((file) => relative(root, file).split(sep).join('/'))
    .filter((file) => /\/light\//.test(file))
  const entries = [
    ...entryPoints.map(({ source }) => `src/${source}`),
    'src/cli/main.ts',
    'src/client/api.ts',
    ...standIns,
  ]
  const { exports, unused } = findUnusedExports(root, { files: fileNames, entries, compilerOptions: options })
  const paths = positionals.map((path) => relative(root, path).split(sep).join('/'))
  const rows = unused.filter(
    ({ file, usedBy }) =>
      (values.tests || usedBy === 'nothing') &&
      (paths.length === 0 || paths.some((path) => file === path || file.startsWith(`${path}/`))),
  )
  if (values.json) console.log(JSON.stringify(rows))
  else {
    for (const { file, line, name, usedBy } of rows) {
      console.log(`${file}:${line}  ${name}${usedBy === 'tests' ? ' (tests only)' : ''}`)
    }
    const types = rows.filter(({ typeOnly }) => typeOnly).length
    const by = values.tests ? 'tests alone or by no other file' : 'no other file'
    console.log(`unused: ${rows.length} of ${exports} exports (${types} of them types) are named by ${by}`)
  }
}
