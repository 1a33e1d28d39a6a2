/** `npm run soak`: uses an installation for long, from the command line. */
import { parseArgs } from 'node:util'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { describeSoak, isSteady } from './report.ts'
import { runSoak, type Sample } from './soak.ts'

const usage =
  'Usage: npm run soak -- [--store sqlite|postgres] [--workers N] [--minutes N] [--faults SHARE] [--json]'

/** Runs the soak of the arguments on the build in this folder; returns the exit code. */
export async function main(root: string, args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: 'string', default: 'sqlite' },
      workers: { type: 'string', default: '2' },
      minutes: { type: 'string', default: '20' },
      faults: { type: 'string', default: '0.05' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { store, json } = values
  const [workers, minutes, faults] = [Number(values.workers), Number(values.minutes), Number(values.faults)]
  const isKnown = store === 'sqlite' || store === 'postgres'
  if (values.help || !isKnown || !(workers >= 1) || !(minutes > 0) || !(faults > 0 && faults <= 0.5)) {
    console.error(usage)
    return values.help ? 0 : 2
  }
  const missing = store === 'postgres' ? missingPostgres() : undefined
  if (missing !== undefined) throw new Error(missing)
  const onSample = ({ at, runs }: Sample) => {
    if (!json && process.stderr.isTTY) process.stderr.write(`\r${Math.round(at / 1_000)} s, ${runs} runs `)
  }
  const result = await runSoak({ root, store, workers, minutes, faults, fewestRuns: 1, onSample })
  console.log(json ? JSON.stringify({ ...result, steady: isSteady(result) }) : describeSoak(result))
  return isSteady(result) ? 0 : 1
}
