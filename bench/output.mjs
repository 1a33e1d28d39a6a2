/** The bench of the reader. Sections run in one process and compare inside one run; only ratios travel between machines. */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { broken, showBroken } from './sections/broken.mjs'
import { clean, showClean } from './sections/clean.mjs'
import { linearity, showLinearity } from './sections/linearity.mjs'
import { showStream, stream } from './sections/stream.mjs'
import { showSuccess, success } from './sections/success.mjs'

const SECTIONS = [
  ['clean', clean, showClean],
  ['broken', broken, showBroken],
  ['linearity', linearity, showLinearity],
  ['stream', stream, showStream],
  ['success', success, showSuccess],
]
const page = new URL('../docs/benchmarks.md', import.meta.url)

const args = process.argv.slice(2)
const has = (flag) => args.includes(flag)
const only = args.filter((arg) => !arg.startsWith('--'))
const unknown = [
  ...only.filter((name) => !SECTIONS.some(([known]) => known === name)),
  ...args.filter((arg) => arg.startsWith('--') && !['--quick', '--json', '--write'].includes(arg)),
]
if (unknown.length > 0) {
  console.error(
    `Unknown: ${unknown.join(', ')}. Sections: ${SECTIONS.map(([name]) => name).join(', ')}; flags: --quick --json --write`,
  )
  process.exit(2)
}
if (has('--write') && has('--quick')) {
  console.error('--write takes full-size documents: figures of a quick run would not be comparable.')
  process.exit(2)
}

const machine = `Node ${process.version} on ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`
const results = { machine, date: new Date().toISOString().slice(0, 10), quick: has('--quick') }
for (const [name, run, show] of SECTIONS) {
  if (only.length > 0 && !only.includes(name)) continue
  console.error(`… ${name}`)
  results[name] = await run({ quick: has('--quick') })
  const shown = show(results[name])
  if (!has('--json')) console.log(`\n${shown}`)
  if (has('--write')) write(name, shown)
}
if (has('--json')) console.log(JSON.stringify(results))

/** Ratios are inside one section, so a section can be measured and written by itself. */
function write(name, shown) {
  const [start, end] = [`<!-- figures:output ${name} -->`, `<!-- /figures:output ${name} -->`]
  const text = readFileSync(page, 'utf8')
  const figures = `${start}\n\n${machine}, ${results.date}.\n\n${shown}\n\n${end}`
  writeFileSync(
    page,
    text.slice(0, text.indexOf(start)) + figures + text.slice(text.indexOf(end) + end.length),
  )
}
