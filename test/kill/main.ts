/** `npm run kill`: one campaign from the command line. */
import { parseArgs } from 'node:util'
import { missingPostgres, start } from '../../scripts/postgres.mjs'
import { type CampaignOptions, type CampaignResult, laneCount, runCampaign } from './campaign.ts'
import { openLanes } from './postgres-lanes.ts'
import { describeCampaign } from './report.ts'

const usage =
  'Usage: npm run kill -- [--store sqlite|postgres] [--kills N] [--seed S] [--trial I] [--lease-ms MS] [--json]'

/** Leases of processes that died hold for this long, where another process could still be alive. */
export const shortLeaseMs = 500

/** Runs what the arguments ask for; the exit code. */
export async function main(program: string, args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: 'string', default: 'sqlite' },
      kills: { type: 'string', default: '500' },
      seed: { type: 'string', default: '1' },
      trial: { type: 'string' },
      'lease-ms': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const { store, json } = values
  const [kills, seed] = [Number(values.kills), Number(values.seed)]
  if ((store !== 'sqlite' && store !== 'postgres') || !Number.isInteger(kills) || !Number.isInteger(seed)) {
    console.error(usage)
    return 2
  }
  const lease = values['lease-ms'] ?? (store === 'postgres' ? shortLeaseMs : undefined)
  const result = await campaignOn(store, {
    program,
    store,
    kills,
    seed,
    ...(values.trial !== undefined && { only: Number(values.trial) }),
    ...(lease !== undefined && { leaseMs: Number(lease) }),
    onTrial: (done) => {
      if (!json && process.stderr.isTTY) process.stderr.write(`\r${done.kills} kills, ${done.trials} trials `)
    },
  })
  if (!json && process.stderr.isTTY) process.stderr.write('\n')
  console.log(json ? JSON.stringify(result) : describeCampaign(result))
  return result.violations.length === 0 ? 0 : 1
}

async function campaignOn(
  store: 'sqlite' | 'postgres',
  options: Omit<CampaignOptions, 'lanes'>,
): Promise<CampaignResult> {
  const count = options.only === undefined ? laneCount() : 1
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
