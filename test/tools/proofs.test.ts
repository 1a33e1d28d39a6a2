/** What a plan says about agents before they run: bounds, and tools that policies forbid or want to be approved. */
import { describe, expect, it } from 'vitest'
import { defineAgent } from '../../src/index.ts'
import type { Approval } from '../../src/types.ts'
import { agent, answerSchema, done, draft, envelope, makeTools, openWith, serve } from './support.ts'

const planner = (given: object) => ({ ...envelope, policies: { planner: given } })

/** An agent that reaches `send` only through another one. */
async function openNested(approval?: Approval) {
  const { called, search, send } = makeTools(approval ? { approval } : {})
  const mailer = defineAgent({
    id: 'mailer',
    input: { type: 'object' },
    output: answerSchema,
    tools: [send],
    limits: { turns: 5 },
  })
  const server = await serve(() => done)
  return { called, server, app: await openWith(server, [agent([search, mailer], { turns: 7 })]) }
}

describe('a plan with an agent', () => {
  it('says what the agent may do at most, through other agents, too', async () => {
    const { app } = await openNested()
    const { runId } = await app.run(envelope, { draft })
    const infos = (await app.state(runId))?.plan?.diagnostics.infos ?? []
    expect(infos.filter(({ details }) => details?.['code'] === 'plan/agent-bounds')).toMatchObject([
      {
        nodeId: 'research',
        constraint:
          '"researcher" takes at most 7 turns, and may act through mailer > send (without an approval)',
        details: {
          turns: 7,
          modelCalls: 12,
          tools: [
            { tool: 'search', sideEffect: false },
            { tool: 'mailer', capabilityId: 'mailer', sideEffect: false },
            { tool: 'mailer > send', capabilityId: 'send', sideEffect: true, approval: 'never' },
          ],
        },
      },
    ])
  })

  it('is rejected if a policy forbids a tool in reach: no model is asked', async () => {
    const { app, server } = await openNested()
    const result = await app.run(planner({ selection: { forbid: ['send'] } }), { draft })
    expect(result).toMatchObject({ status: 'failed' })
    expect(JSON.stringify(result)).toContain('no agent of the plan can call \\"send\\"')
    expect(server.seen).toEqual([])
  })

  it('is rejected if a tool that needs an approval by policy could be called without one', async () => {
    const policy = planner({ directives: { hitlRequiredFor: ['send'] } })
    for (const approval of [undefined, { when: { '>': [{ var: 'amount' }, 100] } }] as const) {
      const { app, server } = await openNested(approval)
      const result = await app.run(policy, { draft })
      expect(result).toMatchObject({ status: 'failed' })
      expect(JSON.stringify(result)).toContain('a person approves every call of')
      expect(server.seen).toEqual([])
    }
    const { app, server } = await openNested('always')
    // The agent answers at once; the label that no node has is asked about at the end.
    expect(await app.run(policy, { draft })).toMatchObject({ status: 'waiting' })
    expect(server.seen).toHaveLength(1)
  })
})
