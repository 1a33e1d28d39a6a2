/**
 * A caller without a draft reads hints about what a caller can change: the envelope, what is registered, a setting. That a
 * node be added, bound or changed is advice for the author of a draft.
 */
import { describe, expect, it } from 'vitest'
import type { AppOptions } from '../../../src/app.ts'
import type { Draft } from '../../../src/domain/plan.ts'
import { file } from '../../cli/run-support.ts'
import { api, envelope, local, serve, text } from '../../server/support.ts'
import { runCommand } from '../../support.ts'

const S = { type: 'string' } as const
const obj = (properties: object) => ({ type: 'object', properties, required: Object.keys(properties) })
const noAnswer = { selection: { forbid: ['proviso.answer', 'proviso.structure'] } }

/** Words of drafts: only their authors can follow such advice. */
const draftWords =
  /add (a )?nodes?|put a node|\bbind\b|\bbinding\b|\bedge\b|\broutes? to\b|set capabilityId|callBudget|retries of the nodes|"derived"|timeoutMs|move the contract|replace the node|in parallel|another source|Use one of|route to another/i
const callerWords =
  /`?inputs`?|outputContract|policies\.|constraints\.|[Rr]egist|contract of capability|`planner\.mode`|`prices`|constraint "|^Correct the other findings first/

interface Finding {
  readonly suggestion?: string
  readonly details?: { readonly code?: string }
}

interface Ended {
  readonly hint?: string
  readonly failures: readonly Finding[]
}

const wish = (more: object, schema: unknown = text, constraints: readonly object[] = []) => ({
  ...envelope(),
  outputContract: { schema, constraints },
  ...more,
})
const constraint = (expr: object) => ({ constraintId: 'c', level: 'hard', expr })

/** Envelopes that the search cannot plan, with what the hint has to name. */
const envelopes: readonly (readonly [string, object, RegExp])[] = [
  [
    'a property that nothing supplies',
    wish({ policies: { planner: noAnswer } }, obj({ price: S })),
    /register a capability|outputContract\.schema/,
  ],
  [
    'a capability that the policy requires and nothing here has',
    wish({ policies: { planner: { selection: { require: ['lonly'] } } } }),
    /policies\.planner\.selection\.require/,
  ],
  [
    'a kind that nothing has',
    wish({ policies: { planner: { topology: { requiredKinds: ['branch'] } } } }),
    /policies\.planner\.topology\.requiredKinds/,
  ],
  [
    'a kind that everything is',
    wish({ policies: { planner: { ...noAnswer, topology: { forbiddenKinds: ['execution'] } } } }),
    /policies\.planner\.topology\.forbiddenKinds/,
  ],
  [
    'a depth that is not enough',
    wish({ inputs: {}, policies: { planner: { ...noAnswer, topology: { maxDepth: 1 } } } }, obj({ deep: S })),
    /policies\.planner\.topology\.maxDepth/,
  ],
  [
    'a constraint on a place that nothing supplies',
    wish({ policies: { planner: noAnswer } }, text, [constraint({ '==': [{ var: 'price.amount' }, 1] })]),
    /inputs|register/,
  ],
  [
    'a constraint that what is supplied excludes',
    wish({ policies: { planner: noAnswer } }, text, [constraint({ '>': [{ var: 'text' }, 3] })]),
    /constraint "c"|contract of/,
  ],
]

/** Drafts as a planner may write them. */
const drafts: readonly (readonly [string, Draft])[] = [
  ['an unknown capability', { nodes: [{ id: 'a', capabilityId: 'wirte' }] }],
  ['no node', { nodes: [] }],
  [
    'nodes that wait for each other',
    {
      nodes: [
        { id: 'a', capabilityId: 'write' },
        { id: 'b', capabilityId: 'write' },
      ],
      edges: [
        { from: 'a', to: 'b' },
        { from: 'b', to: 'a' },
      ],
    },
  ],
  ['an edge to nowhere', { nodes: [{ id: 'a', capabilityId: 'write' }], edges: [{ from: 'a', to: 'z' }] }],
  ['an input that is not bound', { nodes: [{ id: 'a', capabilityId: 'deepen' }] }],
  ['a node without a capability', { nodes: [{ id: 'a' }] }],
  ['another output', { nodes: [{ id: 'a', capabilityId: 'lonely' }] }],
]

const capabilities = [
  local('write', () => ({ text: 'Tea' })),
  local('lonely', () => ({ other: 'x' }), { outputContract: obj({ other: S }) }),
  local('deepen', () => ({ deep: 'x' }), {
    inputContract: obj({ shallow: S }),
    outputContract: obj({ deep: S }),
  }),
  local('begin', () => ({ shallow: 'x' }), { outputContract: obj({ shallow: S }) }),
]

async function endOverHttp(body: object, options: AppOptions = {}): Promise<Ended> {
  const { app, call } = await serve({ capabilities, ...options })
  const started = await call(`${api}/runs`, { body: { envelope: body } })
  expect(started.status).toBeLessThan(300)
  const { runId } = await started.json()
  await app.result(runId)
  const view = (await (await call(`${api}/runs/${runId}`)).json()) as unknown as {
    output: { error: { details: { hint?: string; diagnostics: { failures: Finding[] } } } }
  }
  const { hint, diagnostics } = view.output.error.details
  return { ...(hint !== undefined && { hint }), failures: diagnostics.failures }
}

function expectForCaller(hints: readonly (string | undefined)[]) {
  expect(hints.length).toBeGreaterThan(0)
  for (const hint of hints) {
    expect(hint).toBeDefined()
    expect(hint).not.toMatch(draftWords)
    expect(hint).toMatch(callerWords)
  }
}

describe('a caller of the HTTP API without a draft', () => {
  it.each(envelopes)('reads what to change in the envelope or the catalog: %s', async (_, body, named) => {
    const { hint, failures } = await endOverHttp(body)
    expect(hint).toMatch(named)
    expectForCaller([hint, ...failures.map(({ suggestion }) => suggestion)])
  })

  it.each(drafts)('is not asked to repair the draft of a planner: %s', async (_, draft) => {
    const planner = { name: 'own', draft: async () => draft }
    const { hint, failures } = await endOverHttp(wish({}), { planner })
    expectForCaller([hint, ...failures.map(({ suggestion }) => suggestion)])
  })

  it('leaves the planner its own suggestions', async () => {
    const seen: Finding[] = []
    const planner = {
      name: 'own',
      draft: async ({ diagnostics }: { diagnostics?: { failures: readonly Finding[] } }) => {
        seen.push(...(diagnostics?.failures ?? []))
        return { nodes: [] }
      },
    }
    await endOverHttp(wish({}), { planner: planner })
    expect(seen[0]?.suggestion).toMatch(/^Add a node with write/)
    expect(JSON.stringify(seen)).not.toContain('forPlanner')
  })

  it('sends a draft and reads what to change in it', async () => {
    const { app } = await serve({ capabilities })
    const nodes = [{ id: 'a', capabilityId: 'deepen' }]
    const done = await app.run(wish({}) as never, { draft: { nodes } })
    expect(JSON.stringify(done.error)).toContain('Add a node with begin')
  })

  it.each(envelopes)('reads the same of POST prove: %s', async (_, body) => {
    const { call } = await serve({ capabilities })
    const answer = (await (await call(`${api}/prove`, { body: { envelope: body } })).json()) as unknown as {
      failures: Finding[]
    }
    expectForCaller(answer.failures.map(({ suggestion }) => suggestion))
  })
})

describe('a caller of the command line without a draft', () => {
  it.each(envelopes.slice(0, 4))('reads what to change in the run file: %s', async (_, body, named) => {
    const registered = capabilities.map(({ capability }) => {
      const { capabilityId, inputContract, outputContract } = capability
      return { capabilityId, kind: 'scripted', inputContract, outputContract, settings: { script: [] } }
    })
    const path = file('hints.json', { envelope: body, capabilities: registered })
    for (const command of ['run', 'prove']) {
      const { code, stdout, stderr } = await runCommand([command, path])
      expect(code).toBe(3)
      expect(stdout + stderr).toMatch(named)
      expect(stdout + stderr).not.toMatch(draftWords)
    }
  })
})
