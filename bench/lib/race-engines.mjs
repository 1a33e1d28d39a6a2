/** Engines side by side, each in a process of its own: the same runs in turns, one at a time and many at once. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from './engine-process.mjs'
import { median } from './measure.mjs'

/** No engine, but what the disk itself takes. */
export const floor = 'one commit of one row'

/**
 * @param engines `[name, label]`; one that is not installed or does not run is a row that says so
 * @param sizes `turns`, runs per turn (`sequential`, `concurrent` in `batches`), and what warms up (`first` runs, `rounds` of concurrent ones)
 */
export async function raceEngines(engines, { turns, sequential, concurrent, first, rounds, batches = 1 }) {
  // One folder for all: the same disk.
  const folder = mkdtempSync(join(tmpdir(), 'proviso-bench-'))
  const rows = []
  try {
    for (const [name, label] of engines) {
      const child = startChild()
      const { failed, settings } = await child.request('open', { name, folder })
      rows.push({ label, child, failed, settings, one: [], many: [] })
      if (failed) continue
      // Compilers have done their work by then, everybody's alike.
      await child.request('one', { runs: first })
      for (let i = 0; i < rounds; i++) await child.request('many', { runs: concurrent })
    }
    const running = rows.filter(({ failed }) => !failed)
    for (let turn = 0; turn < turns; turn++) {
      for (const { child, one } of running) one.push(await child.request('one', { runs: sequential }))
      for (const { child, many } of running)
        many.push(await child.request('many', { runs: concurrent, batches }))
    }
  } finally {
    for (const { child } of rows) await child.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return rows.map(({ label: name, failed, settings, one, many }) =>
    failed ? { name, failed } : { name, settings, one: medians(one), many: medians(many) },
  )
}

/** Medians over the turns. */
function medians(turns) {
  return { ms: median(turns.map(({ ms }) => ms)), cpuMs: median(turns.map(({ cpuMs }) => cpuMs)) }
}
