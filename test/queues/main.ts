/** `npm run kill -- --queue …`: runs one campaign against a whole installation. */
import { parseArgs } from 'node:util'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { missingRestate } from '../../scripts/restate.mjs'
import { describeFleetCampaign, isFleetClean, runFleetCampaign } from './campaign.ts'

const usage =
  'Usage: npm run kill -- --queue local|restate --store postgres [--workers N] [--nodes N] [--kills N] [--seed S] [--lease-ms MS] [--json]'

/** Runs the campaign of the arguments on the build in this folder; returns the exit code. */
export async function main(root: string, args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      queue: { type: 'string' },
      store: { type: 'string', default: 'postgres' },
      kills: { type: 'string', default: '40' },
      workers: { type: 'string', default: '3' },
      nodes: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      'lease-ms': { type: 'string', default: '15000' },
      json: { type: 'boolean', default: false },
    },
  })
  const { queue, store, json } = values
  const [kills = 0, workers = 0, nodes = 0, seed = 0, leaseMs = 0] = [
    values.kills,
    values.workers,
    values.nodes,
    values.seed,
    values['lease-ms'],
  ].map(Number)
  const areWhole = [kills, workers, nodes, seed, leaseMs].every((value) => Number.isInteger(value))
  if ((queue !== 'local' && queue !== 'restate') || store !== 'postgres' || !areWhole || workers < 2) {
    console.error(usage)
    return 2
  }
  const missing = missingPostgres() ?? (queue === 'restate' ? missingRestate() : undefined)
  if (missing !== undefined) throw new Error(missing)
  const onKill = (done: number) => {
    if (!json && process.stderr.isTTY) process.stderr.write(`\r${done} kills `)
  }
  const result = await runFleetCampaign({ root, queue, kills, workers, nodes, seed, leaseMs, onKill })
  console.log(json ? JSON.stringify(result) : describeFleetCampaign(result))
  return isFleetClean(result) ? 0 : 1
}
