// @ts-check
/**
 * Finds imports that violate the import direction. Reads every source file with TypeScript's own parser, type
 * imports included, and returns violations as data; `direction.mjs` prints them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix, relative, sep } from 'node:path'
import ts from 'typescript'

/**
 * @typedef {object} Rules
 * @property {Record<string, readonly string[]>} modules each module and the lower modules that it may import
 * @property {Record<string, readonly string[]>} entryFiles files of a module that other modules may import
 * @property {Record<string, readonly string[]>} dependencies each dependency and the modules that import it
 * @property {readonly string[]} browserSafe modules without `node:` imports
 * @property {RegExp} nodeOnly files of those modules that are for Node alone
 * @property {readonly string[]} examples packages that the examples may import
 *
 * @typedef {{ rule: string, file: string, line: number, message: string }} Violation
 * @typedef {{ from: string, to: string, line: number }} Edge an import between two files of src
 * @typedef {{ specifier: string, line: number }} Import
 */

const notSource = /\.(test|test-d|bench)\.ts$/

/** Whether a file is part of the package, not a test or a bench. @param {string} file */
export const isSource = (file) => !notSource.test(file)

/**
 * Checks `src/` and `examples/` below a folder.
 * @param {string} root
 * @param {Rules} rules
 * @returns {{ violations: Violation[], files: number, imports: number }}
 */
export function checkDirection(root, rules) {
  const files = sourceFiles(join(root, 'src')).filter(isSource)
  /** @type {Violation[]} */
  const violations = []
  /** @type {Edge[]} */
  const edges = []
  let imports = 0
  for (const file of files) {
    for (const found of readImports(join(root, 'src', file))) {
      imports++
      const verdict = judgeImport(root, file, found, rules)
      if (verdict.edge) edges.push(verdict.edge)
      if (verdict.rule) violations.push(violation(verdict.rule, `src/${file}`, found.line, verdict.message))
    }
  }
  violations.push(...findUnknownModules(files, rules), ...findCycles(edges), ...checkExamples(root, rules))
  return { violations: violations.sort(compareLocations), files: files.length, imports }
}

/**
 * Returns every module specifier in a file: imports, re-exports, `import()`, `require()` and types written as `import('…')`.
 * @param {string} path
 * @returns {Import[]}
 */
export function readImports(path) {
  const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true)
  /** @type {Import[]} */
  const found = []
  /** @param {ts.Node | undefined} node */
  const add = (node) => {
    if (node && ts.isStringLiteralLike(node)) {
      found.push({
        specifier: node.text,
        line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1,
      })
    }
  }
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier)
    else if (ts.isExternalModuleReference(node)) add(node.expression)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal)
    else if (ts.isCallExpression(node) && isImportCall(node)) add(node.arguments[0])
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** @param {ts.CallExpression} node */
function isImportCall({ expression }) {
  if (expression.kind === ts.SyntaxKind.ImportKeyword) return true
  return ts.isIdentifier(expression) && expression.text === 'require'
}

/**
 * @param {string} root
 * @param {string} file
 * @param {Import} found
 * @param {Rules} rules
 * @returns {{ edge?: Edge, rule?: string, message: string }}
 */
function judgeImport(root, file, found, rules) {
  const { specifier } = found
  if (specifier.startsWith('.')) return judgeRelative(root, file, found, rules)
  const module = getModule(file)
  if (specifier.startsWith('node:')) {
    if (!rules.browserSafe.includes(module) || rules.nodeOnly.test(file)) return { message: '' }
    return { rule: 'node', message: `"${module}" must run in a browser and may not import "${specifier}"` }
  }
  const name = packageName(specifier)
  if (name === 'proviso') {
    return { rule: 'self', message: `import "${specifier}" by its path; the package name is for users` }
  }
  const homes = Object.hasOwn(rules.dependencies, name) ? rules.dependencies[name] : undefined
  if (homes?.includes(module)) return { message: '' }
  return {
    rule: 'dependency',
    message: homes
      ? `"${name}" belongs to the module "${homes.join('" or "')}"; use it through that module`
      : `"${name}" has no module: give it a row in scripts/direction-rules.mjs and docs/decisions/dependencies.md`,
  }
}

/**
 * @param {string} root
 * @param {string} file
 * @param {Import} found
 * @param {Rules} rules
 * @returns {{ edge?: Edge, rule?: string, message: string }}
 */
function judgeRelative(root, file, { specifier, line }, rules) {
  const to = posix.join(posix.dirname(file), specifier)
  if (to.startsWith('..')) return { rule: 'outside', message: `"${specifier}" leaves src` }
  if (!existsSync(join(root, 'src', to))) {
    return {
      rule: 'missing',
      message: `"${specifier}" is not a file; imports carry their full name with .ts`,
    }
  }
  if (!isSource(to)) return { rule: 'test', message: `"${specifier}" is a test; source may not need it` }
  const edge = { from: file, to, line }
  const [module, target] = [getModule(file), getModule(to)]
  if (rules.browserSafe.includes(module) && rules.nodeOnly.test(to) && !rules.nodeOnly.test(file)) {
    return {
      edge,
      rule: 'node',
      message: `"${specifier}" is for Node alone; "${module}" must run in a browser`,
    }
  }
  if (module === target) return { edge, message: '' }
  const below = Object.hasOwn(rules.modules, module) ? rules.modules[module] : undefined
  if (below && !below.includes(target)) {
    const allowed = below.length === 0 ? 'nothing' : below.join(', ')
    return {
      edge,
      rule: 'module',
      message: `"${module}" may not import "${target}"; below it are: ${allowed}`,
    }
  }
  const entryFiles = Object.hasOwn(rules.entryFiles, target) ? rules.entryFiles[target] : undefined
  const inside = to.slice(target.length + 1)
  // A module may be a folder with a file of the same name beside it, which is then an entry point.
  const beside = `${target}.ts`
  if (entryFiles && to !== beside && !entryFiles.includes(inside)) {
    return {
      edge,
      rule: 'entry-file',
      message: `"${to}" is inside "${target}"; come in through ${entryFiles.join(' or ') || beside}`,
    }
  }
  return { edge, message: '' }
}

/**
 * @param {readonly string[]} files
 * @param {Rules} rules
 */
function findUnknownModules(files, rules) {
  return files
    .filter((file) => !Object.hasOwn(rules.modules, getModule(file)))
    .map((file) =>
      violation(
        'unknown-module',
        `src/${file}`,
        1,
        `"${getModule(file)}" is no module of scripts/direction-rules.mjs`,
      ),
    )
}

/**
 * Finds import cycles at every level of the tree, between the files and folders inside one folder. Files of one folder
 * give file cycles; folders give folder cycles, even where no single file is in a cycle.
 * @param {readonly Edge[]} edges
 * @returns {Violation[]}
 */
export function findCycles(edges) {
  /** @type {Map<string, Map<string, Map<string, Edge>>>} */
  const levels = new Map()
  for (const edge of edges) {
    const [from, to] = [edge.from.split('/'), edge.to.split('/')]
    let depth = 0
    while (depth < from.length - 1 && from[depth] === to[depth]) depth++
    const level = from.slice(0, depth).join('/')
    const [unit = '', target = ''] = [from[depth], to[depth]]
    const graph = levels.get(level) ?? new Map()
    levels.set(level, graph)
    const targets = graph.get(unit) ?? new Map()
    graph.set(unit, targets)
    if (!targets.has(target)) targets.set(target, edge)
  }
  return [...levels].flatMap(([level, graph]) => ringsOf(graph).map((ring) => describeRing(level, ring)))
}

/**
 * Finds cycles by depth-first search, one for each back edge; finished units are not visited again.
 * @param {Map<string, Map<string, Edge>>} graph
 * @returns {Edge[][]}
 */
function ringsOf(graph) {
  /** @type {Edge[][]} */
  const rings = []
  const done = new Set()
  /** @type {{ unit: string, edge?: Edge }[]} */
  const path = []
  /** @param {string} unit @param {Edge} [edge] */
  const walk = (unit, edge) => {
    const start = path.findIndex((step) => step.unit === unit)
    if (start >= 0) {
      const steps = [...path.slice(start + 1), { unit, edge }]
      rings.push(steps.flatMap((step) => (step.edge ? [step.edge] : [])))
      return
    }
    if (done.has(unit)) return
    path.push({ unit, ...(edge && { edge }) })
    for (const [target, next] of graph.get(unit) ?? []) walk(target, next)
    path.pop()
    done.add(unit)
  }
  for (const unit of graph.keys()) walk(unit)
  return rings
}

/**
 * @param {string} level
 * @param {readonly Edge[]} ring
 */
function describeRing(level, ring) {
  const first = /** @type {Edge} */ (ring[0])
  const steps = ring.map((edge) => `${edge.from}:${edge.line} → ${edge.to}`).join(', ')
  return violation('cycle', `src/${first.from}`, first.line, `a ring inside src/${level}: ${steps}`)
}

/**
 * @param {string} root
 * @param {Rules} rules
 * @returns {Violation[]}
 */
function checkExamples(root, rules) {
  return sourceFiles(join(root, 'examples')).flatMap((file) =>
    readImports(join(root, 'examples', file))
      .filter(({ specifier }) => !specifier.startsWith('node:'))
      .filter(({ specifier }) => !['proviso', ...rules.examples].includes(packageName(specifier)))
      .map(({ specifier, line }) =>
        violation(
          'example',
          `examples/${file}`,
          line,
          `examples import what users import, not "${specifier}"`,
        ),
      ),
  )
}

/** @param {string} file a path below src */
function getModule(file) {
  return (file.split('/')[0] ?? '').replace(/\.ts$/, '')
}

/** @param {string} specifier */
function packageName(specifier) {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/**
 * @param {string} folder
 * @returns {string[]} the paths of all TypeScript files below a folder, with `/`
 */
export function sourceFiles(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
}

/**
 * @param {string} rule
 * @param {string} file
 * @param {number} line
 * @param {string} message
 * @returns {Violation}
 */
function violation(rule, file, line, message) {
  return { rule, file, line, message }
}

/** @param {Violation} a @param {Violation} b */
function compareLocations(a, b) {
  return a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1
}
