/** What every bench does: choose sections, run them in one process, print or write what they found. */
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'

const page = new URL('../../docs/benchmarks.md', import.meta.url)

/**
 * Runs the sections that the command line names, all by default.
 * @param name of the bench, as in the markers of the page
 * @param sections `[name, run, show]`; only ratios inside one section travel between machines
 * @param options flags with a value that the sections take, such as `--against`
 */
export async function runBench(name, sections, options = []) {
  const { flags, values, only } = readArguments(process.argv.slice(2), options)
  const has = (flag) => flags.includes(flag)
  const unknown = [
    ...only.filter((wanted) => !sections.some(([known]) => known === wanted)),
    ...flags.filter((flag) => !['--quick', '--json', '--write'].includes(flag)),
  ]
  if (unknown.length > 0) {
    console.error(
      `Unknown: ${unknown.join(', ')}. Sections: ${sections.map(([known]) => known).join(', ')}; flags: ${['--quick', '--json', '--write', ...options].join(' ')}`,
    )
    process.exit(2)
  }
  if (has('--write') && has('--quick')) {
    console.error('--write takes full sizes: figures of a quick run would not be comparable.')
    process.exit(2)
  }
  const machine = `Node ${process.version} on ${process.platform} ${process.arch}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`
  const results = { machine, date: new Date().toISOString().slice(0, 10), quick: has('--quick') }
  for (const [section, run, show] of sections) {
    if (only.length > 0 && !only.includes(section)) continue
    console.error(`… ${section}`)
    const began = performance.now()
    results[section] = await run({ quick: has('--quick'), ...values })
    console.error(`  took ${Math.round((performance.now() - began) / 1000)} s`)
    const shown = show(results[section])
    if (!has('--json')) console.log(`\n${shown}`)
    if (has('--write')) write(`${name} ${section}`, `${machine}, ${results.date}.\n\n${shown}`)
  }
  if (has('--json')) console.log(JSON.stringify(results))
}

/** `values` are those of the options, by their names without dashes. */
function readArguments(args, options) {
  const flags = []
  const values = {}
  const only = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]
    if (options.includes(arg)) values[arg.slice(2)] = args[++index]
    else (arg.startsWith('--') ? flags : only).push(arg)
  }
  return { flags, values, only }
}

/** Ratios are inside one section, so a section can be measured and written by itself. */
function write(marker, figures) {
  const [start, end] = [`<!-- figures:${marker} -->`, `<!-- /figures:${marker} -->`]
  const text = readFileSync(page, 'utf8')
  if (!text.includes(start)) throw new Error(`docs/benchmarks.md has no ${start}`)
  writeFileSync(
    page,
    `${text.slice(0, text.indexOf(start))}${start}\n\n${figures}\n\n${text.slice(text.indexOf(end))}`,
  )
}
