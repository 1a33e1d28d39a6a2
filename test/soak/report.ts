/** Prints the figures of a soak: a table over time, the growth after the warm-up, and the verdict. */
import type { Growth, Load, SoakResult } from './soak.ts'

const mb = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)

/** In minutes. Before, code is compiled, caches fill, and the noise of the resident memory is more than the limit. */
const shortest = 5

/** Whether nothing was lost, nothing grows, and all is as before at the end. */
export function isSteady({ wrong, growth, left, counts }: SoakResult): boolean {
  const isComplete = counts.completed + counts.failed === counts.runs
  return isComplete && wrong.length + left.length === 0 && growth.every(({ isBounded }) => isBounded)
}

export function describeSoak(result: SoakResult): string {
  const { options, counts, databaseCuts, wrong, samples, growth, left } = result
  const { store, workers, minutes, faults } = options
  const names = Object.keys(samples[0]?.loads ?? {})
  const cell = ({ resident, heap, handles, entries }: Load) =>
    `${mb(resident)} / ${mb(heap)} / ${handles} / ${entries}`
  // Twenty lines at most; `--json` has all samples.
  const step = Math.max(1, Math.ceil(samples.length / 20))
  const shown = samples.filter((_, nth) => nth % step === 0 || nth === samples.length - 1)
  const rows = shown.map(({ at, runs, loads }) => [
    `${(at / 60_000).toFixed(1)} min`,
    String(runs),
    ...names.map((name) => cell(loads[name] as Load)),
  ])
  const processes = store === 'sqlite' ? 'one server' : `an API and ${workers} workers`
  const verdict =
    wrong.length + left.length === 0 && minutes < shortest
      ? 'too short to say whether it grows'
      : isSteady(result)
        ? 'no growth'
        : 'FAILED'
  return [
    `${store}, ${processes}, ${minutes} minutes, ${faults * 100} % faults: ${counts.runs} runs (${counts.failed} failed), ${counts.events} events, ${counts.cuts} streams and ${databaseCuts} database connections cut, ${wrong.length} gaps`,
    'each process: resident MB / heap MB / handles / entries of maps and sets',
    table([['time', 'runs', ...names], ...rows]),
    'growth after the first third:',
    ...growth.map(describeGrowth),
    ...growth.flatMap(({ process, isBounded }) =>
      isBounded ? [] : [`  largest of ${process}: ${samples.at(-1)?.loads[process]?.largest.join(', ')}`],
    ),
    ...wrong.map((gap) => `GAP ${gap}`),
    ...left.map((each) => `LEFT ${each}`),
    `verdict: ${verdict}`,
  ].join('\n')
}

function describeGrowth(found: Growth): string {
  const { process, residentPerMinute, heldPerMinute, handlesPerMinute, entriesPerRun, isBounded } = found
  const figures = `${mb(residentPerMinute)} MB resident and ${mb(heldPerMinute)} MB held a minute, ${handlesPerMinute.toFixed(2)} handles a minute, ${entriesPerRun?.toFixed(3) ?? 'too few runs for the'} entries a run`
  return `  ${process}: ${figures}${isBounded ? '' : ' (beyond the limits)'}`
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  ')).join('\n')
}
