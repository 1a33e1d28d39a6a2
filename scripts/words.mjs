// @ts-check
/**
 * `npm run words [-- <path> …] [--count] [--json]`: finds words of `words-rules.mjs` in names, file names, comments, messages
 * and docs, and prints file:line:column, the word and what to write instead; only below the paths, if there are any. `--count`
 * prints a table per folder. Exit code 1 when a folder has more than its limit in the rules, or for an exception that nothing needs.
 * Part of `npm run check`.
 */
import { relative, sep } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './setup.mjs'
import { checkWords, compareWithLimits, countByFolder } from './words-check.mjs'
import { wordRules } from './words-rules.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
})
if (values.help) {
  console.log('Usage: npm run words [-- <path> …] [--count] [--json]')
  process.exit(0)
}
const paths = positionals.map((path) => relative(root, path).split(sep).join('/'))
const checked = checkWords(root, wordRules)
const occurrences = checked.occurrences.filter(
  ({ file }) => paths.length === 0 || paths.some((path) => file === path || file.startsWith(`${path}/`)),
)
if (values.json) console.log(JSON.stringify(values.count ? countByFolder(occurrences) : occurrences))
else if (values.count) printCounts(occurrences)
else {
  for (const { file, line, column, found, write } of occurrences) {
    console.log(`${file}:${line}:${column}  "${found}"  write: ${write}`)
  }
}
for (const { in: path, reason } of checked.unusedAllowed) {
  console.error(`scripts/words-rules.mjs: remove the entry for ${path} (${reason}): nothing needs it`)
}
const { exceeded, canBeLowered } = compareWithLimits(checked.occurrences, wordRules)
if (paths.length === 0) for (const line of [...exceeded, ...canBeLowered]) console.error(line)
if (!values.json) console.log(`words: ${occurrences.length} occurrences`)
const isTooMany = paths.length === 0 ? exceeded.length > 0 : occurrences.length > 0
process.exitCode = isTooMany || checked.unusedAllowed.length > 0 ? 1 : 0

/** @param {readonly import('./words-check.mjs').Occurrence[]} occurrences */
function printCounts(occurrences) {
  const groups = Object.keys(wordRules.groups)
  /** @param {string} folder @param {(string | number)[]} cells */
  const print = (folder, cells) =>
    console.log(folder.padEnd(20) + cells.map((cell) => String(cell).padStart(9)).join(''))
  print('', [...groups, 'total'])
  for (const row of countByFolder(occurrences)) {
    print(row.folder, [...groups.map((group) => row.groups[group] ?? 0), row.total])
  }
  const of = (/** @type {string} */ group) => occurrences.filter((each) => each.group === group).length
  print('total', [...groups.map(of), occurrences.length])
}
