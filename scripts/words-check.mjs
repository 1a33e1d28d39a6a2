// @ts-check
/**
 * Finds words that the rules forbid in names, file names, comments, messages and docs; `words.mjs` prints them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/**
 * @typedef {object} WordRule
 * @property {readonly string[]} [words] patterns that are searched everywhere
 * @property {readonly string[]} [names] patterns that are searched in file names and where code declares a name: in prose they
 *   are ordinary, and uses change with the declaration
 * @property {readonly string[]} [except] patterns around a match in which it is right
 * @property {boolean} [whole] whether it must be a whole name, not a part such as `he` in `heCame`
 * @property {string} write what to write instead
 *
 * @typedef {{ in: string, word?: string, text?: string, reason: string }} Allowed a file or a folder ending with `/`; one pattern
 *   or all; lines that contain a text or all
 *
 * @typedef {object} WordRules
 * @property {Record<string, number>} limits occurrences that are accepted, by folder as `countByFolder` names it; all others: none
 * @property {Record<string, readonly WordRule[]>} groups
 * @property {readonly string[]} folders
 * @property {readonly string[]} files
 * @property {RegExp} skip paths that are not read
 * @property {readonly Allowed[]} allowed
 *
 * @typedef {{ file: string, line: number, column: number, found: string, group: string, write: string }} Occurrence
 * @typedef {{ text: string, at: number, end: number }} Word
 */

const extensions = /\.(ts|mjs|md|ya?ml|toml|json|py|html|css)$/
const code = /\.(ts|mjs)$/

/**
 * Searches the files of the rules below a folder.
 * @param {string} root
 * @param {WordRules} rules
 * @returns {{ occurrences: Occurrence[], unusedAllowed: Allowed[] }}
 */
export function checkWords(root, rules) {
  const files = [...rules.files, ...rules.folders.flatMap((folder) => filesBelow(root, folder))].filter(
    (file) => existsSync(join(root, file)) && extensions.test(file) && !rules.skip.test(file),
  )
  const used = new Set()
  const occurrences = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const lines = text.split('\n')
    return findWords(file, text, rules).filter(({ line, found }) => {
      const entry = rules.allowed.find(
        (allowed) =>
          (allowed.in.endsWith('/') ? file.startsWith(allowed.in) : file === allowed.in) &&
          (allowed.word === undefined || allowed.word === found.toLowerCase()) &&
          (allowed.text === undefined || lines[line - 1]?.includes(allowed.text)),
      )
      if (entry) used.add(entry)
      return entry === undefined
    })
  })
  return { occurrences, unusedAllowed: rules.allowed.filter((entry) => !used.has(entry)) }
}

/**
 * Every word of the rules in one file and in its name (line 0).
 * @param {string} file
 * @param {string} text
 * @param {Pick<WordRules, 'groups'>} rules
 * @returns {Occurrence[]}
 */
export function findWords(file, text, { groups }) {
  const matchers = compile(groups)
  /** Parsed only if a word is found whose meaning depends on it. @type {Set<number> | undefined} */
  let names
  const starts = lineStarts(text)
  /** @param {number} at */
  const locate = (at) => {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (/** @type {number} */ (starts[middle]) <= at) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: at - /** @type {number} */ (starts[low]) + 1 }
  }
  /** @param {Match} match @returns {Occurrence} */
  const inText = ({ at, found, group, rule }) => ({ file, ...locate(at), found, group, write: rule.write })
  const inName = match(file, splitWords(file), matchers, () => true).map((found) => ({
    ...inText(found),
    line: 0,
    column: found.at + 1,
  }))
  const isName = (/** @type {number} */ at) => {
    names ??= code.test(file) ? declaredNames(file, text) : new Set()
    return names.has(nameStart(text, at))
  }
  return [...inName, ...match(text, splitWords(text), matchers, isName).map(inText)].sort(
    (a, b) => a.line - b.line || a.column - b.column,
  )
}

/**
 * @typedef {{ words: Set<string>, glued: boolean }} Step
 * @typedef {{ steps: Step[], rule: WordRule, group: string, namesOnly: boolean, except: Step[][] }} Matcher
 * @typedef {{ at: number, end: number, found: string, group: string, rule: WordRule }} Match
 */

/**
 * @param {Record<string, readonly WordRule[]>} groups
 * @returns {Map<string, Matcher[]>} by first word
 */
function compile(groups) {
  /** @type {Map<string, Matcher[]>} */
  const byFirst = new Map()
  /** @param {string} pattern */
  const steps = (pattern) => pattern.split(' ').map(readStep)
  for (const [group, rules] of Object.entries(groups)) {
    for (const rule of rules) {
      const patterns = [
        ...(rule.words ?? []).map((pattern) => ({ pattern, namesOnly: false })),
        ...(rule.names ?? []).map((pattern) => ({ pattern, namesOnly: true })),
      ]
      const except = (rule.except ?? []).map(steps)
      for (const { pattern, namesOnly } of patterns) {
        const matcher = { steps: steps(pattern), rule, group, namesOnly, except }
        for (const first of matcher.steps[0]?.words ?? []) {
          byFirst.set(first, [...(byFirst.get(first) ?? []), matcher])
        }
      }
    }
  }
  return byFirst
}

/** @param {string} step @returns {Step} */
function readStep(step) {
  return { words: new Set(step.replace(/^-/, '').split('/')), glued: step.startsWith('-') }
}

/**
 * The longest match at each word; words inside a match are not matched again.
 * @param {string} text
 * @param {readonly Word[]} words
 * @param {Map<string, Matcher[]>} matchers
 * @param {(at: number) => boolean} isName whether the word at an offset is part of an identifier
 * @returns {Match[]}
 */
function match(text, words, matchers, isName) {
  /** @type {Match[]} */
  const matches = []
  let next = 0
  for (const [index, { text: word, at }] of words.entries()) {
    if (index < next) continue
    const candidates = (matchers.get(word) ?? []).filter(
      (matcher) =>
        follows(text, words, index, matcher.steps) &&
        (!matcher.namesOnly || isName(at)) &&
        (!matcher.rule.whole || isWhole(text, words, index, matcher.steps.length)) &&
        !isException(text, words, index, matcher),
    )
    const [longest] = candidates.sort((a, b) => b.steps.length - a.steps.length)
    if (longest === undefined) continue
    next = index + longest.steps.length
    const end = /** @type {Word} */ (words[next - 1]).end
    matches.push({ at, end, found: text.slice(at, end).replace(/\s+(\*|\/\/)?\s*/g, ' '), ...longest })
  }
  return matches
}

/** What may be between two words of a pattern: nothing (`letGo`), a space, a hyphen, the end of a line of prose or comment. */
const gap = /^(?:[ \t]+|[-_]|[ \t]*\r?\n[ \t]*(?:\*|\/\/|#|>)?[ \t]*)?$/

/**
 * @param {string} text @param {readonly Word[]} words @param {number} index @param {readonly Step[]} steps
 */
function follows(text, words, index, steps) {
  return steps.every((step, offset) => {
    const word = words[index + offset]
    if (word === undefined || !step.words.has(word.text)) return false
    if (offset === 0) return true
    const between = text.slice(words[index + offset - 1]?.end, word.at)
    return gap.test(between) && !(step.glued && /\s/.test(between))
  })
}

/** @param {string} text @param {readonly Word[]} words @param {number} index @param {number} count */
function isWhole(text, words, index, count) {
  const [before, after] = [text[(words[index]?.at ?? 0) - 1], text[words[index + count - 1]?.end ?? 0]]
  return !/[\w$]/.test(before ?? ' ') && !/[\w$]/.test(after ?? ' ')
}

/** Whether an exception matches around it. @param {string} text @param {readonly Word[]} words @param {number} index @param {Matcher} matcher */
function isException(text, words, index, { except }) {
  return except.some((exception) => {
    for (let back = 0; back < exception.length && back <= index; back++) {
      if (follows(text, words, index - back, exception)) return true
    }
    return false
  })
}

/**
 * Words in lower case with their offsets; names are split at capitals.
 * @param {string} text
 * @returns {Word[]}
 */
function splitWords(text) {
  return [...text.matchAll(/[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+/g)].map((found) => ({
    text: found[0].toLowerCase(),
    at: found.index,
    end: found.index + found[0].length,
  }))
}

/** Where the names that a source declares begin; not those that it imports or uses. @param {string} file @param {string} text */
function declaredNames(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  /** @type {Set<number>} */
  const starts = new Set()
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isIdentifier(node) && isDeclaration(node)) starts.add(node.getStart(source))
    ts.forEachChild(node, visit)
  }
  visit(source)
  return starts
}

/** @param {ts.Identifier} node */
function isDeclaration(node) {
  const { parent } = node
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isPropertyAssignment(parent))
    return false
  if (ts.isBindingElement(parent) && ts.isObjectBindingPattern(parent.parent)) {
    // `{ key }` and `{ key: name }` take the key from another declaration.
    return parent.propertyName !== undefined && parent.name === node
  }
  return 'name' in parent && parent.name === node && !ts.isPropertyAccessExpression(parent)
}

/** The start of the name around an offset. @param {string} text @param {number} at */
function nameStart(text, at) {
  let start = at
  while (start > 0 && /[\w$]/.test(/** @type {string} */ (text[start - 1]))) start--
  return start
}

/** @param {string} text */
function lineStarts(text) {
  return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
}

/** @param {string} root @param {string} folder @returns {string[]} */
function filesBelow(root, folder) {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(root, path)
      return [path]
    })
    .sort()
}

/**
 * Occurrences per folder (those of `src` one by one) and group, most first.
 * @param {readonly Occurrence[]} occurrences
 * @returns {{ folder: string, total: number, groups: Record<string, number> }[]}
 */
export function countByFolder(occurrences) {
  /** @type {Map<string, { folder: string, total: number, groups: Record<string, number> }>} */
  const rows = new Map()
  for (const { file, group } of occurrences) {
    const [top = '', ...rest] = file.split('/')
    const folder = rest.length === 0 ? file : top === 'src' && rest.length > 1 ? `src/${rest[0]}` : top
    const row = rows.get(folder) ?? { folder, total: 0, groups: {} }
    row.total++
    row.groups[group] = (row.groups[group] ?? 0) + 1
    rows.set(folder, row)
  }
  return [...rows.values()].sort((a, b) => b.total - a.total || (a.folder < b.folder ? -1 : 1))
}

/**
 * The folders with more occurrences than their limit, and the limits that can be lowered.
 * @param {readonly Occurrence[]} occurrences
 * @param {Pick<WordRules, 'limits'>} rules
 * @returns {{ exceeded: string[], canBeLowered: string[] }}
 */
export function compareWithLimits(occurrences, { limits }) {
  const totals = new Map(countByFolder(occurrences).map(({ folder, total }) => [folder, total]))
  const rows = [...new Set([...totals.keys(), ...Object.keys(limits)])].map((folder) => ({
    folder,
    total: totals.get(folder) ?? 0,
    limit: new Map(Object.entries(limits)).get(folder) ?? 0,
  }))
  return {
    exceeded: rows
      .filter(({ total, limit }) => total > limit)
      .map(({ folder, total, limit }) => `${folder}: ${total} occurrences, at most ${limit} are accepted`),
    canBeLowered: rows
      .filter(({ total, limit }) => total < limit)
      .map(
        ({ folder, total, limit }) =>
          `${folder}: lower its limit in scripts/words-rules.mjs from ${limit} to ${total}`,
      ),
  }
}
