/** One ask, several people at the same moment, two processes: the scene in which one decision must count, and only one. */

import { inputSchema, valueSchema } from './catalog.ts'
import { createCluster } from './cluster.ts'
import { answerSchema } from './drafts.ts'
import { noFaults } from './faults.ts'
import { randomFor } from './random.ts'
import { drawScenario, type Scenario } from './scenario.ts'
import { createWorld } from './world.ts'

export interface Contest {
  readonly people: number
  /** What each of them received: `done`, or the code of the refusal. */
  readonly endings: readonly string[]
  /** Decisions in the journal about the ask. */
  readonly decisions: readonly string[]
  /** How often the effect behind the ask took place. */
  readonly effects: number
  readonly status: string
}

export async function contest(seed: number): Promise<Contest> {
  const random = randomFor(seed, 'contest')
  const people = random.between(2, 8)
  const expires = random.chance(0.3)
  const world = createWorld(randomFor(seed, 'contest world'), 1_700_000_000_000)
  const scenario = sceneOf(seed, expires ? 200 : 60_000)
  const cluster = createCluster(world, scenario, noFaults)
  const [run] = scenario.runs
  const { runId, envelope, draft } = run!
  const engine = () => random.pick(cluster.alive()).engine
  void engine().start(envelope, { runId, draft })
  const asked = () => cluster.ledger.journals.get(runId)?.find((event) => event.type === 'hitl_request')
  await world.run(() => asked() !== undefined, world.now + 60_000)
  const { requestId, valueHash } = asked()!.payload
  const endings: string[] = []
  for (let nth = 0; nth < people; nth++) {
    const decision = random.pick(['approve', 'reject', 'edit'] as const)
    const reply = {
      requestId,
      valueHash,
      decision,
      by: `person ${nth}`,
      ...(decision === 'edit' && { value: { v: nth } }),
    }
    world.after((expires ? 150 : 0) + random.int(expires ? 80 : 10), () => {
      engine()
        .reply(runId, reply)
        .then(
          () => endings.push('done'),
          (cause: { code: string }) => endings.push(cause.code),
        )
    })
  }
  const journal = () => cluster.ledger.journals.get(runId) ?? []
  const over = () => journal().at(-1)?.type === 'complete' && endings.length === people
  await world.run(over, world.now + 120_000)
  const end = journal().at(-1)
  return {
    people,
    endings,
    decisions: journal().flatMap((event) =>
      // A rejection leads to a further ask; the one that they all answer is the first.
      event.type === 'hitl_resolved' && event.payload.requestId === requestId ? [event.payload.decision] : [],
    ),
    effects: [...cluster.ledger.effects.values()].reduce((sum, { times }) => sum + times, 0),
    status: end?.type === 'complete' ? end.payload.status : 'unfinished',
  }
}

/** A value that a person has to review, and behind it a change of the world. */
function sceneOf(seed: number, askMs: number): Scenario {
  const contracts = { input: inputSchema, output: valueSchema }
  return {
    ...drawScenario(seed),
    processes: 2,
    skews: [0, 0],
    askMs,
    answers: { failures: 0, hangs: false, onceFails: false, asks: false },
    runs: [
      {
        runId: 'run',
        handed: true,
        startAt: 0,
        triggers: [],
        envelope: {
          objective: 'Change something, if people agree',
          inputs: { x: 1 },
          constraints: {},
          outputContract: { schema: answerSchema, constraints: [] },
          policies: {
            planner: { directives: { hitlRequiredFor: ['n0'], sideEffects: 'allow' } },
            runtime: [],
          },
          specialInstructions: [],
          metadata: {},
        },
        draft: {
          nodes: [
            { id: 'n0', capabilityId: 'work', contracts, inputs: { a: { envelope: '/inputs/x' } } },
            { id: 'n1', capabilityId: 'once', contracts, inputs: { a: { node: 'n0', pointer: '/v' } } },
          ],
          edges: [{ from: 'n0', to: 'n1' }],
          output: { properties: { n1: { node: 'n1', pointer: '/v' } } },
        },
      },
    ],
  }
}
