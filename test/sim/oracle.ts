/** The same seed without faults says how every run of an exact scenario must end. */

import { canonicalJson } from '../../src/base/canonical.ts'
import type { Json } from '../../src/base/json.ts'
import { noFaults } from './faults.ts'
import { type History, simulate } from './history.ts'
import { drawScenario, type Scenario } from './scenario.ts'

/** The history of a seed, with all that is wrong with it. */
export async function playHistory(seed: number): Promise<History & { readonly histories: number }> {
  const scenario = drawScenario(seed)
  const history = await simulate(scenario, scenario.faults)
  if (!scenario.exact || history.violations.length > 0) return { ...history, histories: 1 }
  const calm = await simulate(scenario, noFaults)
  const violations = [...calm.violations, ...differences(scenario, history, calm)]
  return { ...history, violations, histories: 2 }
}

/** Status and answer must agree; of failures only that they are, for which of two failing nodes comes first is open. */
function differences(scenario: Scenario, history: History, calm: History): string[] {
  return scenario.runs.flatMap(({ runId }) => {
    const [ended, expected] = [endOf(history, runId), endOf(calm, runId)]
    return ended === expected ? [] : [`${runId} ended as ${ended}, without faults as ${expected}`]
  })
}

function endOf(history: History, runId: string): string {
  const end = history.journals.get(runId)?.at(-1)
  if (end?.type !== 'complete') return 'unfinished'
  const { status, output } = end.payload
  return status === 'completed' ? `completed ${canonicalJson((output ?? null) as Json)}` : status
}
