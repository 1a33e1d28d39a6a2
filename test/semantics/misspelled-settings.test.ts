/** A misspelled limit, policy or gate is an error with a suggestion, over HTTP as in the library. */
import { describe, expect, it } from 'vitest'
import { serve, start } from '../server-support.ts'

const cases: readonly (readonly [string, object, string, string])[] = [
  ['a limit', { constraints: { maxToken: 500 } }, '/constraints/maxToken', 'maxTokens'],
  ['a limit without its unit', { constraints: { maxCost: 1 } }, '/constraints/maxCost', 'maxCostUsd'],
  ['a limit in snake case', { constraints: { max_calls: 1 } }, '/constraints/max_calls', 'maxCalls'],
  ['a limit that is none', { constraints: { maxMinutes: 1 } }, '/constraints/maxMinutes', 'maxTokens'],
  [
    'a policy',
    { policies: { requireHitlApproval: true } },
    '/policies/requireHitlApproval',
    'requiresHitlApproval',
  ],
  [
    'a planner policy',
    { policies: { planner: { selection: { forbidd: ['x'] } } } },
    '/policies/planner/selection/forbidd',
    'forbid',
  ],
  [
    'a gate in the directives',
    { policies: { planner: { directives: { askBeforeFinsh: true } } } },
    '/policies/planner/directives/askBeforeFinsh',
    'askBeforeFinish',
  ],
]

describe('a misspelled setting', () => {
  it.each(cases)('is refused with a suggestion: %s', async (_, more, pointer, meant) => {
    const { call } = await serve()
    const refused = await call('/api/v1/flex/runs', { body: start({ ...more }) })
    expect(refused.status).toBe(422)
    const { issues } = await refused.json()
    const issue = issues.find((each) => each.pointer === pointer) as { hint?: string } | undefined
    expect(issue?.hint).toContain(meant)
  })

  it('is told apart from names that are free', async () => {
    const { call } = await serve()
    const free = {
      constraints: { campaign: 'spring' },
      policies: { planner: { directives: { mood: 'calm' } } },
    }
    expect((await call('/api/v1/flex/runs', { body: start(free) })).status).toBeLessThan(300)
  })
})
