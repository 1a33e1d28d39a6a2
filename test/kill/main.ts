/** `npm run kill`: runs one campaign from the command line. */
import { parseArgs } from 'node:util'
import { missingPostgres, start } from '../../scripts/postgres.mjs'
import { type CampaignOptions, type CampaignResult, isClean, laneCount, runCampaign } from './campaign.ts'
import { openLanes } from './postgres-lanes.ts'
import { describeCampaign } from './report.ts'
import type { Death } from './trial.ts'

const usage =
  'Usage: npm run kill -- [--store sqlite|postgres] [--kills N] [--seed S] [--trial I --deaths "PLACE, …"] [--lanes N] [--lease-ms MS] [--json]\n' +
  '       npm run kill -- --queue local|restate --store postgres [--workers N] [--nodes N] [--kills N] [--seed S] [--lease-ms MS] [--json]'

/** Lease duration where another process could still be alive; the leases of dead processes last as long. */
export const shortLeaseMs = 500

/** Runs the campaign of the arguments; returns the exit code. */
export async function main(program: string, args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(usage)
    return 0
  }
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: 'string', default: 'sqlite' },
      kills: { type: 'string', default: '700' },
      seed: { type: 'string', default: '1' },
      trial: { type: 'string' },
      deaths: { type: 'string' },
      lanes: { type: 'string', default: String(laneCount()) },
      'lease-ms': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const { store, json } = values
  const [kills, seed, lanes] = [Number(values.kills), Number(values.seed), Number(values.lanes)]
  const again = { trial: Number(values.trial ?? 0), deaths: (values.deaths ?? '').split(', ').map(deathOf) }
  const known = store === 'sqlite' || store === 'postgres'
  // Both the trial number and its deaths are needed to reproduce a trial.
  const isIncomplete = (values.trial === undefined) !== (values.deaths === undefined)
  if (!known || isIncomplete || ![kills, seed, lanes, again.trial].every(Number.isInteger) || lanes < 1) {
    console.error(usage)
    return 2
  }
  const lease = values['lease-ms'] ?? (store === 'postgres' ? shortLeaseMs : undefined)
  const result = await campaignOn(store, values.trial === undefined ? lanes : 1, {
    program,
    store,
    kills,
    seed,
    ...(values.trial !== undefined && { again }),
    ...(lease !== undefined && { leaseMs: Number(lease) }),
    onTrial: (done) => {
      if (!json && process.stderr.isTTY) process.stderr.write(`\r${done.kills} kills, ${done.trials} trials `)
    },
  })
  if (!json && process.stderr.isTTY) process.stderr.write('\n')
  console.log(json ? JSON.stringify(result) : describeCampaign(result))
  return isClean(result) ? 0 : 1
}

/** Parses a death as reports write it: `append:before#3`, or `120ms` after the start. */
function deathOf(text: string): Death {
  const [, ms] = /^(\d+)ms$/.exec(text) ?? []
  return ms === undefined ? { points: [text] } : { afterMs: Number(ms) }
}

async function campaignOn(
  store: 'sqlite' | 'postgres',
  count: number,
  options: Omit<CampaignOptions, 'lanes'>,
): Promise<CampaignResult> {
  if (store === 'sqlite') return runCampaign({ ...options, lanes: Array.from({ length: count }, () => ({})) })
  const missing = missingPostgres()
  if (missing !== undefined) throw new Error(missing)
  const cluster = await start()
  try {
    const { lanes, close } = await openLanes(cluster.url, count)
    try {
      return await runCampaign({ ...options, lanes })
    } finally {
      await close()
    }
  } finally {
    cluster.stop()
  }
}
