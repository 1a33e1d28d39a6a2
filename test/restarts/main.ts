/** `npm run restarts`: restarts processes that start old runs, from the command line. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { missingPostgres, start } from '../../scripts/postgres.mjs'
import { type RestartResult, runRestarts } from './restarts.ts'

const usage =
  'Usage: npm run restarts -- [--store sqlite|postgres] [--restarts N] [--seed S] [--lease-ms MS] [--json]'

/** How many hangs and violations are printed; `--json` has all of them. */
const most = 10

/** Returns the exit code: 1 after a hang or a violation. */
export async function main(program: string, args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: 'string', default: 'sqlite' },
      restarts: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
      'lease-ms': { type: 'string', default: '400' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    return 0
  }
  const [restarts, seed, leaseMs] = [Number(values.restarts), Number(values.seed), Number(values['lease-ms'])]
  const { store, json } = values
  if ((store !== 'sqlite' && store !== 'postgres') || ![restarts, seed, leaseMs].every(Number.isInteger)) {
    console.error(usage)
    return 2
  }
  const onRestart = (done: number) => {
    if (!json && process.stderr.isTTY) process.stderr.write(`\r${done} restarts `)
  }
  const result = await withStore(store, (address) =>
    runRestarts({ program, store: address, restarts, seed, leaseMs, onRestart }),
  )
  if (!json && process.stderr.isTTY) process.stderr.write('\n')
  console.log(json ? JSON.stringify({ store, seed, leaseMs, ...result }) : describeRestarts(store, result))
  return result.hangs.length + result.violations.length > 0 ? 1 : 0
}

export function describeRestarts(store: string, result: RestartResult): string {
  const { restarts, starts, answers, hangs, violations, cutOff, slowestMs, seconds } = result
  const counts = Object.entries(answers).map(([answer, count]) => `${count} ${answer}`)
  return [
    `${store}: ${restarts} restarts with ${starts} starts in ${seconds} s: ${hangs.length} hangs, ${violations.length} violations`,
    `answers: ${counts.join(', ')}; ${cutOff} cut off by the kill; slowest ${slowestMs} ms`,
    ...hangs.slice(0, most).map((hang) => `HANG ${hang}`),
    ...violations.slice(0, most).map((violation) => `VIOLATION ${violation}`),
  ].join('\n')
}

/** Calls with the address of an empty store, which is deleted at the end. */
export async function withStore<T>(
  store: 'sqlite' | 'postgres',
  use: (address: string) => Promise<T>,
): Promise<T> {
  if (store === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'proviso-restarts-'))
    try {
      return await use(`sqlite:${join(folder, 'runs.db')}`)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  const missing = missingPostgres()
  if (missing !== undefined) throw new Error(missing)
  const cluster = await start()
  try {
    return await use(cluster.url)
  } finally {
    cluster.stop()
  }
}
