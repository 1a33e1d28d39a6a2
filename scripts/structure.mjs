// @ts-check
/**
 * `npm run structure [-- --table] [--json]`: prints every folder of `src` with too many files, every function that is too
 * long and every exported function named `xOf`, by `structure-rules.mjs`; exit code 1 if there is one. `--table` prints the
 * measurements instead: files, files per folder, the share of files with a single importer, the longest functions, the modules
 * inside `src` that tests import. `--json` prints either as JSON. Part of `npm run check`.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { isSource, readImports, sourceFiles } from './direction-check.mjs'
import { entryPoints } from './entry-points.mjs'
import { root } from './setup.mjs'
import { structureRules } from './structure-rules.mjs'

/**
 * @typedef {object} StructureRules
 * @property {number} filesPerFolder
 * @property {number} functionLines
 * @property {Record<string, string>} lists folders with one file per item, and what an item is
 * @property {readonly string[]} suites files, or folders that end with `/`
 * @property {readonly string[]} namedOf exported functions that may end in `Of`
 * @property {Record<string, number>} longer functions that are still to be split, by name: the lines that they may have
 *
 * @typedef {{ name: string, file: string, line: number, lines: number, exported: boolean }} FoundFunction
 * @typedef {object} Structure
 * @property {number} files source files below `src`, tests apart
 * @property {number} lines lines in them
 * @property {{ folder: string, files: number }[]} folders source files directly in each folder, most first
 * @property {{ files: number, share: number }} singleImporter files that exactly one other source file imports; share of all files
 * @property {FoundFunction[]} functions longest first
 * @property {{ modules: string[], behindSeams: string[] }} testImports modules that are no entry points and that tests import by
 *   themselves, or through a file of `test/seams`
 *
 * @typedef {{ rule: 'folder' | 'function' | 'name', at: string, message: string }} Violation
 */

/**
 * Measures the sources below `src` of a folder.
 * @param {string} root
 * @returns {Structure}
 */
export function measureStructure(root) {
  const files = sourceFiles(join(root, 'src')).filter(isSource)
  /** @type {Map<string, Set<string>>} */
  const importers = new Map(files.map((file) => [file, new Set()]))
  /** @type {Map<string, number>} */
  const folders = new Map()
  /** @type {FoundFunction[]} */
  const functions = []
  let lines = 0
  for (const file of files) {
    const path = join(root, 'src', file)
    const folder = posix.dirname(`src/${file}`)
    folders.set(folder, (folders.get(folder) ?? 0) + 1)
    for (const { specifier } of readImports(path)) {
      if (specifier.startsWith('.')) importers.get(posix.join(posix.dirname(file), specifier))?.add(file)
    }
    const text = readFileSync(path, 'utf8')
    lines += text.trimEnd().split('\n').length
    functions.push(...findFunctions(`src/${file}`, text))
  }
  const single = [...importers.values()].filter(({ size }) => size === 1).length
  return {
    files: files.length,
    lines,
    folders: [...folders]
      .map(([folder, count]) => ({ folder, files: count }))
      .sort((a, b) => b.files - a.files || (a.folder < b.folder ? -1 : 1)),
    singleImporter: { files: single, share: files.length === 0 ? 0 : single / files.length },
    functions: functions.sort((a, b) => b.lines - a.lines),
    testImports: measureTestImports(root),
  }
}

/**
 * Lists the modules of `src` behind its entry points that the files below `test` import.
 * @param {string} root
 * @returns {Structure['testImports']}
 */
export function measureTestImports(root) {
  const entries = new Set(entryPoints.map(({ source }) => source))
  /** @type {Set<string>} */
  const modules = new Set()
  /** @type {Set<string>} */
  const behindSeams = new Set()
  const files = existsSync(join(root, 'test')) ? sourceFiles(join(root, 'test')) : []
  for (const file of files) {
    const found = file.startsWith('seams/') ? behindSeams : modules
    for (const { specifier } of readImports(join(root, 'test', file))) {
      const target = posix.join('test', posix.dirname(file), specifier)
      if (!specifier.startsWith('.') || !target.startsWith('src/')) continue
      if (!entries.has(target.slice('src/'.length))) found.add(target)
    }
  }
  return { modules: [...modules].sort(), behindSeams: [...behindSeams].sort() }
}

/**
 * Returns the violations of the limits.
 * @param {Structure} structure
 * @param {StructureRules} rules
 * @returns {Violation[]}
 */
export function checkStructure({ folders, functions }, rules) {
  const full = folders.filter(
    ({ folder, files }) => files > rules.filesPerFolder && !Object.hasOwn(rules.lists, folder),
  )
  const long = functions.filter(
    ({ name, file, lines }) =>
      lines > Math.max(rules.functionLines, new Map(Object.entries(rules.longer)).get(name) ?? 0) &&
      !rules.suites.some((suite) => (suite.endsWith('/') ? file.startsWith(suite) : file === suite)),
  )
  const vague = functions.filter(
    ({ name, exported }) => exported && /[a-z]Of$/.test(name) && !rules.namedOf.includes(name),
  )
  return [
    ...full.map(({ folder, files }) => ({
      rule: /** @type {const} */ ('folder'),
      at: folder,
      message: `${files} source files; at most ${rules.filesPerFolder} fit into one folder`,
    })),
    ...long.map(({ name, file, line, lines }) => ({
      rule: /** @type {const} */ ('function'),
      at: `${file}:${line}`,
      message: `${name} has ${lines} lines; at most ${rules.functionLines} fit into one function`,
    })),
    ...vague.map(({ name, file, line }) => ({
      rule: /** @type {const} */ ('name'),
      at: `${file}:${line}`,
      message: `${name} must begin with a verb that says what it does, such as get, to, find, list or build`,
    })),
  ]
}

/**
 * Finds every function with a body and counts its lines, without the comments above it.
 * @param {string} file
 * @param {string} text
 * @returns {FoundFunction[]}
 */
function findFunctions(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  /** @param {number} at */
  const lineAt = (at) => source.getLineAndCharacterOfPosition(at).line + 1
  /** @type {FoundFunction[]} */
  const found = []
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const line = lineAt(node.getStart())
      found.push({
        name: getFunctionName(node),
        file,
        line,
        lines: lineAt(node.end) - line + 1,
        exported: isExported(node),
      })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/**
 * Whether the declaration itself has `export`: of a function, or of the constant that holds one.
 * @param {ts.SignatureDeclaration} node
 */
function isExported(node) {
  const { parent } = node
  const declaration = ts.isVariableDeclaration(parent) ? parent.parent.parent : node
  const modifiers = ts.canHaveModifiers(declaration) ? ts.getModifiers(declaration) : undefined
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false
}

/** @param {ts.SignatureDeclaration} node */
function getFunctionName(node) {
  const { parent } = node
  const named = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ? parent.name : node.name
  if (named) return named.getText()
  return ts.isConstructorDeclaration(node) ? 'constructor' : '(anonymous)'
}

/** @param {Structure} structure */
function printTable({ files, lines, folders, singleImporter, functions, testImports }) {
  const { filesPerFolder, functionLines, lists } = structureRules
  const full = folders.filter((row) => row.files > filesPerFolder)
  console.log(`files per folder (${folders.length} folders, ${full.length} with more than ${filesPerFolder})`)
  for (const row of folders.slice(0, Math.max(full.length, 10))) {
    const list = lists[row.folder]
    console.log(`${String(row.files).padStart(6)}  ${row.folder}${list === undefined ? '' : ` (${list})`}`)
  }
  const long = functions.filter((row) => row.lines > functionLines)
  console.log(`longest functions (${functions.length} functions, ${long.length} over ${functionLines} lines)`)
  for (const row of functions.slice(0, Math.max(long.length, 10))) {
    console.log(`${String(row.lines).padStart(6)}  ${row.name}  ${row.file}:${row.line}`)
  }
  const share = (singleImporter.share * 100).toFixed(1)
  console.log(
    `${files} files, ${lines} lines; ${singleImporter.files} files (${share} %) have a single importer`,
  )
  const { modules, behindSeams } = testImports
  console.log(
    `tests import ${modules.length} modules behind the entry points by themselves, ${behindSeams.length} through test/seams`,
  )
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: { table: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  })
  if (values.help) {
    console.log('Usage: npm run structure [-- --table] [--json]')
    process.exit(0)
  }
  const structure = measureStructure(root)
  const violations = checkStructure(structure, structureRules)
  if (values.table && values.json) {
    console.log(JSON.stringify({ ...structure, functions: structure.functions.slice(0, 50) }))
  } else if (values.table) printTable(structure)
  else if (values.json) console.log(JSON.stringify(violations))
  else {
    for (const { rule, at, message } of violations) console.log(`${at}  structure/${rule}  ${message}`)
    console.log(`structure: ${violations.length} violations of the limits`)
  }
  process.exitCode = violations.length > 0 && !values.table ? 1 : 0
}
