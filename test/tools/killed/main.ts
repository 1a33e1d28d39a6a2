/** `npm run kill -- --loop`: sweeps the kill points of an agent's loop from the command line. */
import { parseArgs } from 'node:util'
import { missingPostgres, start } from '../../../scripts/postgres.mjs'
import { isClean, type SweepOptions, type SweepResult, sweep } from './sweep.ts'

const usage =
  'Usage: npm run kill -- --loop [--agents] [--store sqlite|postgres] [--stride N] [--at PATTERN] [--lanes N] [--json]'

/** Returns the exit code. */
export async function main(program: string, args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      loop: { type: 'boolean' },
      agents: { type: 'boolean', default: false },
      store: { type: 'string', default: 'sqlite' },
      stride: { type: 'string', default: '1' },
      at: { type: 'string', default: '.' },
      lanes: { type: 'string', default: '4' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [stride, lanes] = [Number(values.stride), Number(values.lanes)]
  const { store, json } = values
  const isWrong =
    (store !== 'sqlite' && store !== 'postgres') ||
    ![stride, lanes].every((count) => Number.isInteger(count) && count > 0)
  if (isWrong || values.help) {
    console[values.help ? 'log' : 'error'](usage)
    return values.help ? 0 : 2
  }
  const result = await sweepOn(store === 'postgres', {
    program,
    scenario: values.agents ? 'agents' : 'loop',
    stride,
    at: new RegExp(values.at),
    lanes,
    onLife: (done, all) => {
      if (!json && process.stderr.isTTY) process.stderr.write(`\r${done} of ${all} kills `)
    },
  })
  if (!json && process.stderr.isTTY) process.stderr.write('\n')
  console.log(json ? JSON.stringify(result) : describe(result))
  return isClean(result) ? 0 : 1
}

async function sweepOn(isPostgres: boolean, options: SweepOptions): Promise<SweepResult> {
  if (!isPostgres) return sweep(options)
  const missing = missingPostgres()
  if (missing !== undefined) throw new Error(missing)
  const cluster = await start()
  try {
    return await sweep({ ...options, postgres: cluster.url })
  } finally {
    cluster.stop()
  }
}

function describe({ findings, ended, ...counts }: SweepResult): string {
  const rows = Object.entries(counts).map(([name, count]) => `${name}: ${count}`)
  return [`${rows.join(', ')}; ${ended.join(', ')}`, ...findings].join('\n')
}
