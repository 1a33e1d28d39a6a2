/** The figures of a campaign in words, and how to see a violation again. */
import type { CampaignResult, Quantiles } from './campaign.ts'

export function describeCampaign(result: CampaignResult): string {
  const { store, seed, kills, runs, boundaries, covered, recoveryMs } = result
  const lines = [
    `${store}: ${kills} kills over ${runs} runs (seed ${seed}), ${covered} of ${boundaries} boundaries, ${result.killsPerMinute} kills/min`,
    `lost ${result.lost}, duplicated ${result.duplicated}, re-executed calls ${result.reexecuted} (at least once, under the same key)`,
    `recovery from process start to first attempt: ${quantiles(recoveryMs)}; without loading the code: ${quantiles(result.afterLoadMs)} (n=${recoveryMs.count}, lease ${result.leaseMs === 'default' ? '15 s' : `${result.leaseMs} ms`})`,
  ]
  for (const { trial, deaths, message } of result.violations)
    lines.push(
      `VIOLATION in trial ${trial}, deaths ${JSON.stringify(deaths)}: ${message}`,
      `  again: npm run kill -- --store ${store} --kills ${result.wanted} --seed ${seed} --trial ${trial}`,
    )
  return lines.join('\n')
}

const quantiles = ({ p50, p99, most }: Quantiles) => `p50 ${p50} ms, p99 ${p99} ms, most ${most} ms`
