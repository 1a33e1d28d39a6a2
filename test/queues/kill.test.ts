/** Kills parts of a whole installation at random; `npm run kill -- --queue …` is the long form. */
import { beforeAll, describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { missingRestate } from '../../scripts/restate.mjs'
import { requireBuild, root } from '../support.ts'
import {
  describeFleetCampaign,
  type FleetCampaignOptions,
  isFleetClean,
  runFleetCampaign,
} from './campaign.ts'

const long = process.env['PROVISO_LONG'] === '1'
/** As of workers without options. Ten times the goal for Restate is beyond it. */
const leaseMs = 15_000

describe.skipIf(missingPostgres() !== undefined || missingRestate() !== undefined)(
  'a whole installation loses and doubles nothing',
  { timeout: 15 * 60_000 },
  () => {
    beforeAll(requireBuild)

    const survive = async (given: Pick<FleetCampaignOptions, 'queue' | 'kills' | 'seed'>, nodes = 1) => {
      const result = await runFleetCampaign({ root, workers: 3, nodes, leaseMs, ...given })
      console.log(describeFleetCampaign(result))
      expect(result.violations).toEqual([])
      expect(isFleetClean(result)).toBe(true)
      return result
    }

    it.skipIf(!long)('when its parts are killed, on Restate', async () => {
      const { pickUpMs } = await survive({ queue: 'restate', kills: 40, seed: 1 })
      expect(pickUpMs.p99).toBeLessThan(leaseMs)
    })
    it.skipIf(!long)('when its parts are killed, on a Restate cluster of three nodes', async () => {
      await survive({ queue: 'restate', kills: 30, seed: 2 }, 3)
    })
    it.skipIf(!long)('when its parts are killed, with workers that poll', async () => {
      await survive({ queue: 'local', kills: 40, seed: 3 })
    })
  },
)
