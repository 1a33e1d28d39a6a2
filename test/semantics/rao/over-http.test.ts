/**
 * RAO contracts from outside: an agent that really listens, a server process, requests over HTTP. The agent's contract comes
 * with its registration, the caller's with the envelope; decisions are in the stream, and asks carry them, also after a restart.
 */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { agent, json } from '../../agents/support.ts'
import { frames, type SseFrame } from '../../server/support.ts'
import { proviso } from '../../support.ts'
import { flexToken, type Served, serve, useServeProcesses } from '../settings/serve-process.ts'

useServeProcesses()

const api = '/api/v1/flex'
const args = ['--dev', '--preset', 'marketing']
const env = { PROVISO_SECRET_KEY: 'ab'.repeat(32) }

/** Plain text, as an agent that knows nothing of our schemas writes it. */
const answered = (confidence: number, more: object = {}) =>
  json({
    primary_output: 'Tea is warm, so the copy is calm.',
    confidence,
    confidence_type: 'calibrated',
    escalate: false,
    reasoning: 'The brief says so',
    ...more,
  })

const registration = (url: string, more: object = {}) => ({
  capabilityId: 'explainer',
  version: '1',
  displayName: 'Explainer',
  summary: 'Says why the copy is written as it is',
  inputContract: ['writerBrief'],
  outputContract: ['rationaleSummary'],
  idempotent: true,
  endpoint: { url },
  ...more,
})

const envelope = (policies: object = {}) => ({
  objective: 'Say why',
  inputs: { writerBrief: { angle: 'Tea calms', keyPoints: ['It is warm'] } },
  outputContract: {
    schema: {
      type: 'object',
      properties: { rationaleSummary: { type: 'string' } },
      required: ['rationaleSummary'],
    },
  },
  policies,
})

const output = { rationaleSummary: 'Tea is warm, so the copy is calm.' }
const contract = { autoApproveAbove: 0.9, suppressBelow: 0.3, reviewLow: 0.3 }
const thresholds = { autoApproveAbove: 0.9, reviewLow: 0.3, reviewHigh: 0.85, suppressBelow: 0.3 }

async function served(confidence: number, more: object = {}, said: object = {}) {
  const explainer = await agent(answered(confidence, said))
  const server = await serve({ args, env })
  const registered = await server.call(`${api}/capabilities/register`, registration(explainer.url, more))
  expect(registered.status).toBe(201)
  return { explainer, server }
}

const decisionsIn = (frames: readonly SseFrame[]) =>
  frames.filter(({ type }) => type === 'rao_decision').map(({ payload }) => payload)

async function asksOf({ call }: Served, runId: string | undefined) {
  const page = (await (await call(`${api}/hitl?runId=${runId}`)).json()) as { asks: Ask[] }
  return page.asks
}

interface Ask {
  readonly requestId: string
  readonly valueHash: string
  readonly [name: string]: unknown
}

const resolve = ({ call }: Served, { requestId, valueHash }: Ask, decision: string) =>
  call(`${api}/hitl/resolve`, { requestId, valueHash, decision })

/** Follows the stream of a run to its last event. */
async function follow({ address }: Served, runId: string | undefined): Promise<readonly SseFrame[]> {
  const headers = { authorization: `Bearer ${flexToken}`, accept: 'text/event-stream' }
  return frames(await fetch(`${address}${api}/runs/${runId}/events`, { headers }))
}

describe('an agent that registers with a RAO contract', () => {
  it('shows it, misspelled ones are refused, and above the threshold a searched plan completes', async () => {
    const { server, explainer } = await served(0.95, { rao: contract })
    const wrong = registration(explainer.url, { capabilityId: 'other', rao: { supressBelow: 0.3 } })
    const refused = await server.call(`${api}/capabilities/register`, wrong)
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({
      issues: [{ pointer: '/rao/supressBelow', hint: expect.stringContaining('suppressBelow') }],
    })
    const listed = (await (await server.call(`${api}/capabilities?q=explainer`)).json()) as {
      capabilities: readonly object[]
    }
    expect(listed.capabilities[0]).toMatchObject({ capabilityId: 'explainer', rao: contract })
    const seen = await server.run({ envelope: envelope() })
    expect(decisionsIn(seen)).toEqual([
      {
        attempt: 1,
        thresholds,
        confidence: 0.95,
        type: 'calibrated',
        escalate: false,
        decision: 'auto_approve',
        reasoning: 'The brief says so',
      },
    ])
    expect(seen.at(-1)).toMatchObject({ type: 'complete', payload: { status: 'completed', output } })
    expect(JSON.parse(explainer.received[0]!.body)).toMatchObject({ rao: true })
    expect(explainer.received[0]!.body).not.toContain('0.9')
  })

  it('is reviewed in between: the ask carries the decision, survives a restart, and its approval ends the run', async () => {
    const { server } = await served(0.6, { rao: contract }, { escalate: true })
    const seen = await server.run({ envelope: envelope() })
    const runId = seen[0]?.runId
    const rao = {
      thresholds,
      confidence: 0.6,
      type: 'calibrated',
      escalate: true,
      decision: 'human_review',
      reasoning: 'The brief says so',
    }
    expect(decisionsIn(seen)).toMatchObject([rao])
    expect(seen.find(({ type }) => type === 'hitl_request')?.payload).toMatchObject({ rao })
    expect(await asksOf(server, runId)).toMatchObject([{ kind: 'approval', value: output, rao }])
    await server.stop()

    const store = `sqlite:${join(server.folder, 'proviso.db')}`
    const table = await proviso(['asks', '--store', store])
    expect(table.stdout).toMatch(/CONFIDENCE.*\n.*\b0\.6\b/)
    const listed = await proviso(['asks', '--store', store, '--json'])
    expect(JSON.parse(listed.stdout)).toMatchObject([{ rao }])

    const heir = await serve({ args, env, folder: server.folder })
    const [ask] = await asksOf(heir, runId)
    expect(ask).toMatchObject({ rao })
    expect((await resolve(heir, ask!, 'approve')).status).toBe(200)
    const rest = await follow(heir, runId)
    expect(rest.at(-1)).toMatchObject({ type: 'complete', payload: { status: 'completed', output } })
    expect(decisionsIn(rest)).toHaveLength(1)
  })

  it('is suppressed below: the answer reaches no client, also where a person is asked about the failure', async () => {
    const { server } = await served(0.2, { rao: contract })
    const seen = await server.run({ envelope: envelope() })
    const rao = { decision: 'suppress', confidence: 0.2, thresholds }
    expect(decisionsIn(seen)).toMatchObject([rao])
    expect(seen.at(-1)).toMatchObject({
      payload: { status: 'failed', error: { details: { code: 'rao/suppressed' } } },
    })
    const asked = await server.run({ envelope: envelope({ onNodeFail: 'ask' }) })
    expect(await asksOf(server, asked[0]?.runId)).toMatchObject([{ kind: 'failure', value: null, rao }])
    for (const stream of [seen, asked]) {
      expect(JSON.stringify(stream)).not.toContain('Tea is warm')
      expect(stream.filter(({ type }) => type === 'attempt_end')).toMatchObject([
        { payload: { outcome: 'ok', output: { confidence: 0.2, withheld: true } } },
      ])
      const run = `${api}/runs/${stream[0]?.runId}`
      for (const path of [run, `${run}/events?limit=1000`, `${api}/hitl?runId=${stream[0]?.runId}`]) {
        const shown = await server.call(path)
        expect(shown.status, path).toBe(200)
        expect(await shown.text(), path).not.toContain('Tea is warm')
      }
    }
  })
})

describe('an envelope with a RAO contract in policies.runtime', () => {
  it('guards an agent that registered without one, stricter than the node and shown by the proof', async () => {
    const { server } = await served(0.95)
    const policies = {
      runtime: [
        {
          id: 'careful',
          selector: { capabilityId: 'explainer' },
          rao: { ...contract, autoApproveAbove: 0.97 },
        },
      ],
    }
    const draft = {
      nodes: [{ id: 'why', capabilityId: 'explainer', data: { contract: true, autoApproveAbove: 0.9 } }],
    }
    const body = { envelope: envelope(policies), draft }
    const proof = await (await server.call(`${api}/prove`, body)).json()
    expect(proof).toMatchObject({
      accepted: true,
      rao: [
        {
          nodeId: 'why',
          capabilityId: 'explainer',
          thresholds: { autoApproveAbove: 0.97, suppressBelow: 0.5 },
          from: ['node', 'policy:careful'],
        },
      ],
    })
    const misspelled = { runtime: [{ id: 'careful', selector: { capabilityId: 'explaner' }, rao: {} }] }
    const rejected = await server.call(`${api}/prove`, { envelope: envelope(misspelled) })
    expect(await rejected.json()).toMatchObject({
      accepted: false,
      failures: [{ suggestion: expect.stringContaining('Did you mean "explainer"?') }],
    })
    const seen = await server.run(body)
    expect(decisionsIn(seen)).toMatchObject([
      { decision: 'human_review', thresholds: { autoApproveAbove: 0.97 } },
    ])
    const [ask] = await asksOf(server, seen[0]?.runId)
    expect((await resolve(server, ask!, 'reject')).status).toBe(200)
    const rest = await follow(server, seen[0]?.runId)
    expect(rest.at(-1)).toMatchObject({ type: 'complete', payload: { status: 'failed' } })
  })
})
