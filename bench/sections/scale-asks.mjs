/** Runs that wait for people in a fleet: the time from a reply to the end of the run, and what waiting runs cost a worker. */
import { loadavg } from 'node:os'
import { start } from '../../scripts/postgres.mjs'
import { openProcesses, startQueue } from '../lib/scale-processes.mjs'
import { ms, table } from '../lib/table.mjs'
import { createDatabase, percentile } from './scale-workers.mjs'

const carriers = { leases: 'leases', restate: 'Restate' }
const workers = 2

export async function scaleAsks({ quick }) {
  const [busy] = loadavg()
  const cluster = await start()
  const rows = []
  try {
    for (const name of Object.keys(carriers)) rows.push(await measure({ cluster, name, quick }))
  } finally {
    cluster.stop()
  }
  return { busy, rows }
}

async function measure({ cluster, name, quick }) {
  const count = quick ? 1_000 : 5_000
  const url = await createDatabase(cluster, `asks_${name}`)
  const queue = name === 'restate' ? await startQueue(workers) : undefined
  try {
    const { children, close } = await openProcesses(url, ['api', ...Array(workers).fill('worker')], queue)
    const [api, ...others] = children
    const resident = async () => {
      const usages = await Promise.all(others.map((worker) => worker.request('usage')))
      return usages.reduce((sum, { rss }) => sum + rss, 0)
    }
    // The first ones pay for compiled code and caches.
    await api.request('pause', { count: 1_000 })
    const before = await resident()
    await api.request('pause', { count })
    const bytesPerThousand = ((await resident()) - before) / (count / 1_000)
    const { times } = await api.request('resume', { count: quick ? 200 : 1_000 })
    await close()
    const [p50, p99] = [0.5, 0.99].map((part) => percentile(times, part))
    return { name, count, resumed: times.length, p50, p99, bytesPerThousand }
  } finally {
    await queue?.stop()
  }
}

export function showScaleAsks({ busy, rows }) {
  const figures = table(
    ['two workers', 'runs', 'figure'],
    rows.flatMap(({ name, count, resumed, p50, p99, bytesPerThousand }) => [
      [
        `${carriers[name]}: from the reply to the end of the run, p50 / p99`,
        resumed,
        `${ms(p50)} / ${ms(p99)}`,
      ],
      [
        `${carriers[name]}: resident memory per 1,000 waiting runs`,
        count,
        `${(bytesPerThousand / 1024 / 1024).toFixed(2)} MB`,
      ],
    ]),
  )
  return `Load average of the machine before: ${busy.toFixed(1)}.\n\n${figures}`
}
