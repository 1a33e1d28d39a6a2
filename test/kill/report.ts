/** Prints the figures of a campaign, and how to reproduce a violation. */
import type { CampaignResult, Quantiles } from './campaign.ts'
import type { Coverage } from './sweep.ts'

export function describeCampaign(result: CampaignResult): string {
  const { store, seed, kills, runs, first, recovery, recoveryMs } = result
  const lines = [
    `${store}: ${kills} kills over ${runs} runs (seed ${seed}), ${result.killsPerMinute} kills/min`,
    `boundaries: ${share(first)} in first lives (${first.kills} kills), ${share(recovery)} in recoveries (${recovery.kills} kills); ${result.timed} kills at any moment`,
    `lost ${result.lost}, duplicated ${result.duplicated}, re-executed calls ${result.reexecuted} (at least once, under the same key)`,
    `recovery from process start to first attempt: ${quantiles(recoveryMs)} (n=${recoveryMs.count}, lease ${result.leaseMs === 'default' ? '15 s' : `${result.leaseMs} ms`})`,
    `of that, p50 / p99: ${describeParts(result.recoveryParts)}`,
  ]
  if (first.untried + recovery.untried > 0)
    lines.push(
      `no process was sent to ${first.untried} in first lives and ${recovery.untried} in recoveries: all take about ${result.fullSweep} kills`,
    )
  for (const [lives, { unreached, missed }] of [
    ['first lives', first],
    ['recoveries', recovery],
  ] as const) {
    if (unreached.length > 0)
      lines.push(`never reached, because not every life comes there (${lives}): ${unreached.join(', ')}`)
    if (missed.length > 0)
      lines.push(`MISSED, though every life comes there (${lives}): ${missed.join(', ')}`)
  }
  for (const { trial, deaths, message } of result.violations)
    lines.push(
      `VIOLATION in trial ${trial}, deaths ${deaths.join(', ')}: ${message}`,
      `  again: npm run kill -- --store ${store} --seed ${seed} --trial ${trial} --deaths "${deaths.join(', ')}"`,
    )
  return lines.join('\n')
}

const parts = {
  load: 'start of Node and loading the code',
  open: 'opening the store',
  create: 'creating the app',
  resume: 'claiming a run and starting its attempt',
  processor: 'processor time in all',
} as const

function describeParts(found: CampaignResult['recoveryParts']): string {
  const names = Object.keys(parts) as (keyof typeof parts)[]
  return names.map((name) => `${parts[name]} ${found[name].p50} / ${found[name].p99} ms`).join(', ')
}

const share = ({ covered, known }: Coverage) => `${covered} of ${known}`

const quantiles = ({ p50, p99, most }: Quantiles) => `p50 ${p50} ms, p99 ${p99} ms, most ${most} ms`
