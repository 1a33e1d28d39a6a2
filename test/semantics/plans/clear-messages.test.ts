/** Messages about small mistakes name what is wanted. */

import { describe, expect, it } from 'vitest'
import { describeAnswer } from '../../../src/cli/render/describe-ask.ts'
import { describeSourceIssue } from '../../../src/pipeline/index.ts'
import { envelope, local, open } from '../../journeys/support.ts'
import { problems } from '../../pipelines/support.ts'
import { wrongly } from '../../wrongly.ts'

describe('a planner that returns no draft', () => {
  it.each([
    ['text', 'not a string'],
    [5, 'not a number'],
    [null, 'not null'],
    [[], 'not a list'],
    [{}, 'not an object without `nodes`'],
  ])('is reported with what it returned: %j', async (drafted, words) => {
    const planner = { name: 'mine', draft: async () => wrongly(drafted) }
    const app = await open({ planner, capabilities: [local('any', () => ({ text: '' }))] })
    expect(await app.run(envelope())).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining(`the draft is an object with a list of nodes, ${words}`) },
    })
  })
})

describe('arguments of filters', () => {
  const said = (filter: string) =>
    problems(
      `name: p\nagents: { w: { model: m, system_prompt: W. } }\nsteps: [{ name: s, agent: w, input: '{{ input | ${filter} }}' }]\n`,
    ).map(describeSourceIssue)
  it.each([
    ['join(1, 2, 3)', 'the filter join takes at most one argument, got 3'],
    ['truncate', 'the filter truncate takes one argument, got 0'],
    ['upper(1)', 'the filter upper takes no argument, got 1'],
  ])('%s is a located error', (filter, words) => {
    expect(said(filter)).toEqual([expect.stringMatching(/^p\.yaml:3:/)])
    expect(said(filter)[0]).toContain(words)
  })
  it.each(['join', 'join("; ")', 'truncate(10)', 'default', 'default("x")'])('%s is fine', (filter) => {
    expect(said(filter)).toEqual([])
  })
})

it('an ask without a schema does not say what JSON must satisfy', () => {
  const colors = { dim: (words: string) => words } as never
  const ask = (schema: unknown) =>
    ({ requestId: 'r', decisions: ['answer'], expiresAt: 0, schema, kind: 'task' }) as never
  const lines = (schema: unknown) => describeAnswer(ask(schema), { store: [], use: [] }, colors).join('\n')
  for (const open of [true, {}, undefined]) expect(lines(open)).not.toContain('must satisfy')
  expect(lines({ type: 'string' })).toContain('JSON must satisfy {"type":"string"}')
})
