/** What a run costs in memory that waits for a person: it lives in the store, so next to nothing. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { table } from '../lib/table.mjs'

const program = fileURLToPath(new URL('../engines/paused-child.mjs', import.meta.url))

/** In a process of its own: what other sections left behind must not count. */
export async function paused({ quick }) {
  const { stdout, status } = spawnSync(process.execPath, ['--expose-gc', program, quick ? '1000' : '20000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`paused-child ended with ${status}`)
  return JSON.parse(stdout)
}

const mb = (bytes) => `${(bytes / 1024 / 1024).toFixed(2)} MB`

export function showPaused({ runs, heapPerThousand, rssPerThousand, active }) {
  return table(
    ['runs that wait for a person', 'held in memory', 'heap per 1,000', 'resident per 1,000'],
    [[runs, active, mb(heapPerThousand), mb(rssPerThousand)]],
  )
}
