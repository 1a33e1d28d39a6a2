/** Far more calls than the budget allows, all ready at once, while processes die: what is spent never passes the limit. */
import type { Limits } from '../../src/domain/plan.ts'
import type { JsonSchema } from '../../src/schema/json-schema.ts'
import { inputSchema, valueSchema } from './catalog.ts'
import { type History, simulate } from './history.ts'
import { drawScenario, type Scenario } from './scenario.ts'

const anyIntegers: JsonSchema = { type: 'object', additionalProperties: { type: 'integer' } }

export interface Spending {
  readonly calls: number
  readonly limits: Limits
  /** Who spends; `costly` makes one call an attempt, `climber` several. */
  readonly capabilityId?: 'costly' | 'climber'
  /** Calls of one node. */
  readonly callBudget?: number
}

export function spend(seed: number, given: Spending): Promise<History> {
  const scenario = sceneOf(seed, given)
  return simulate(scenario, scenario.faults)
}

function sceneOf(
  seed: number,
  { calls, limits, capabilityId = 'costly', callBudget = 100 }: Spending,
): Scenario {
  const contracts = { input: inputSchema, output: valueSchema }
  const ids = Array.from({ length: calls }, (_, index) => `n${index}`)
  return {
    ...drawScenario(seed),
    exact: false,
    processes: 2,
    skews: [0, 0],
    slots: 64,
    answers: { failures: 0.3, hangs: false, onceFails: false, asks: false },
    faults: {
      crash: 0.05,
      error: 0.02,
      stalls: 0.3,
      linger: 0.02,
      overtaken: 0,
      deaf: 0,
      until: 8000,
      mostCrashes: 8,
    },
    runs: [
      {
        runId: 'run',
        handed: true,
        startAt: 0,
        triggers: [],
        envelope: {
          objective: 'Spend as little as possible',
          inputs: { x: 1 },
          constraints: {},
          outputContract: { schema: anyIntegers, constraints: [] },
          policies: { planner: {}, runtime: [] },
          specialInstructions: [],
          metadata: {},
        },
        draft: {
          nodes: [
            ...ids.map((id) => ({
              id,
              capabilityId,
              contracts,
              callBudget,
              retry: { max: 2 },
              inputs: { a: { envelope: '/inputs/x' as const } },
            })),
            { id: 'end', capabilityId: 'person', contracts, inputs: { a: { value: 1 } } },
          ],
          // Where the budget does not allow a node, its edge is followed all the same: the run continues and spends all of it.
          edges: ids.map((from) => ({ from, to: 'end', when: 'always' })),
          output: {
            properties: Object.fromEntries([...ids, 'end'].map((id) => [id, { node: id, pointer: '/v' }])),
          },
          limits: { concurrency: 64, ...limits },
        },
      },
    ],
  }
}
