/** Planner optimisation and the six triggers of runtime policies, as a caller over HTTP meets them, also across a restart. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { defineCapability } from '../../src/index.ts'
import { rehearsal } from '../../src/testing/index.ts'
import { leave } from '../journeys/support.ts'
import { api, envelope, frames, local, rao, type SseFrame, says, serve, start } from '../server/support.ts'

const folder = mkdtempSync(join(tmpdir(), 'proviso-policies-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('optimisation (FLEX-09)', () => {
  const variants = [{ headline: 'Tea', body: 'Warm.', callToAction: 'Sip' }]
  const facets = (
    capabilityId: string,
    [input, output]: readonly [string, string],
    { tier, tokens, value }: { tier: 'free' | 'premium'; tokens: number; value: object },
  ) =>
    defineCapability({
      capabilityId,
      inputContract: [input],
      outputContract: [output],
      cost: { tier, estimatedTokens: tokens },
      idempotent: true,
      run: () => ({ [output]: value }),
    })
  const capabilities = [
    facets('direct', ['toneOfVoice', 'copyVariants'], { tier: 'premium', tokens: 9_000, value: variants }),
    facets('brief', ['toneOfVoice', 'writerBrief'], {
      tier: 'free',
      tokens: 100,
      value: { angle: 'calm', keyPoints: ['tea'] },
    }),
    facets('scribe', ['writerBrief', 'copyVariants'], { tier: 'free', tokens: 100, value: variants }),
  ]
  const wanted = (planner: object) => ({
    objective: 'Posts about tea',
    inputs: { toneOfVoice: 'friendly' },
    outputContract: {
      schema: { type: 'object', properties: { copyVariants: { type: 'array' } }, required: ['copyVariants'] },
    },
    policies: { planner },
  })

  it.each([
    [{ objective: 'speed' }, ['direct']],
    [{ objective: 'quality' }, ['direct']],
    [{ objective: 'token_efficiency' }, ['brief', 'scribe']],
    [{ objective: 'quality', maxTokens: 1_000 }, ['brief', 'scribe']],
  ] as const)('%j is carried out by %j', async (optimisation, used) => {
    const { call } = await serve({ capabilities, env: {} })
    const seen = await frames(await call(`${api}/run.stream`, { body: wanted({ optimisation }) }))
    expect(seen.at(-1)).toMatchObject({
      payload: { status: 'completed', output: { copyVariants: variants } },
    })
    const done = seen.filter(({ type }) => type === 'node_complete')
    expect(done.map(({ payload }) => payload['capabilityId'])).toEqual(used)
  })

  it('diversity works out a direction for each variant', async () => {
    const { call } = await serve({ capabilities, providers: [rehearsal()] })
    const planner = { optimisation: { objective: 'diversity' }, topology: { variantCount: 3 } }
    const proof = (await (
      await call(`${api}/prove`, { body: { envelope: wanted(planner) } })
    ).json()) as unknown as { plan: { nodes: { kind: string }[] } }
    expect(proof.plan.nodes.filter(({ kind }) => kind === 'branch')).toHaveLength(3)
  })
})

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const one = { nodes: [{ id: 'write', capabilityId: 'write' }] }
const under = (...runtime: readonly object[]) => ({ ...envelope({ policies: { runtime } }) })
const triggered = (seen: readonly SseFrame[]) =>
  seen.filter(({ type }) => type === 'policy_triggered').map(({ payload }) => payload['policyId'])
const emit = (id: string, trigger: object) => ({ id, trigger, action: { type: 'emit', event: id } })

describe('triggers (FLEX-14)', () => {
  it('onStart comes before any plan, onNodeComplete and onMetricBelow after the node', async () => {
    const scored = { ...text, properties: { ...text.properties, score: { type: 'number' } } }
    const { call } = await serve({
      capabilities: [local('write', () => ({ text: 'Tea', score: 0.4 }), { outputContract: scored })],
    })
    const body = {
      envelope: under(
        emit('begun', { kind: 'onStart' }),
        emit('weak', { kind: 'onMetricBelow', metric: 'score', threshold: 0.5 }),
        emit('other', { kind: 'onMetricBelow', metric: 'score', threshold: 0.3 }),
      ),
      draft: one,
    }
    const seen = await frames(await call(`${api}/run.stream`, { body }))
    expect(triggered(seen)).toEqual(['begun', 'weak'])
    const types = seen.map(({ type }) => type)
    expect(types.indexOf('policy_triggered')).toBeLessThan(types.indexOf('plan_requested'))
    const written = { envelope: under(emit('written', { kind: 'onNodeComplete' })), draft: one }
    expect(triggered(await frames(await call(`${api}/run.stream`, { body: written })))).toEqual(['written'])
  })

  it('onMetricBelow sees the confidence of an answer', async () => {
    const { call } = await serve({ capabilities: [says('write', [rao({ text: 'Tea' }, 0.9)])] })
    const body = {
      envelope: under(emit('shaky', { kind: 'onMetricBelow', metric: 'confidence', threshold: 0.95 })),
      draft: { nodes: [{ id: 'write', capabilityId: 'write', data: { contract: true } }] },
    }
    expect(triggered(await frames(await call(`${api}/run.stream`, { body })))).toEqual(['shaky'])
  })

  it('onValidationFail comes with an output that breaks its contract', async () => {
    const { call } = await serve({ capabilities: [says('write', ['nothing like it', '{"text":"Tea"}'])] })
    const body = {
      envelope: under(emit('bad', { kind: 'onValidationFail' })),
      draft: { nodes: [{ id: 'write', capabilityId: 'write', retry: { max: 1 } }] },
    }
    const seen = await frames(await call(`${api}/run.stream`, { body }))
    expect(triggered(seen)).toEqual(['bad'])
    expect(seen.at(-1)).toMatchObject({ payload: { status: 'completed' } })
  })

  it('onTimeout fires in the process that continues the run after a restart', async () => {
    const store = `sqlite:${join(folder, 'timeout.db')}`
    const options = { store, capabilities: [local('write', () => ({ text: 'Tea' }))] }
    const first = await serve(options)
    const late = {
      id: 'late',
      trigger: { kind: 'onTimeout', ms: 4_000 },
      action: { type: 'fail', message: 'Too slow' },
    }
    const body = start({ policies: { requiresHitlApproval: true, runtime: [late] } }, one)
    const seen = await frames(await first.call(`${api}/run.stream`, { body }))
    expect(seen.some(({ type }) => type === 'hitl_request')).toBe(true)
    const { runId } = seen[0] as SseFrame
    await first.server.close({ graceMs: 0 })
    await leave(first.app)
    const second = await serve(options)
    const rest = await frames(
      await second.call(`${api}/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } }),
    )
    expect(triggered(rest)).toEqual(['late'])
    expect(rest.at(-1)).toMatchObject({ payload: { status: 'failed', error: { message: 'Too slow' } } })
  }, 60_000)

  it('manual is fired by a person, also after a restart, and nothing else fires it', async () => {
    const store = `sqlite:${join(folder, 'manual.db')}`
    const options = { store, capabilities: [local('write', () => ({ text: 'Tea' }))] }
    const first = await serve(options)
    const stop = { id: 'stop', trigger: { kind: 'manual' }, action: { type: 'fail', message: 'Enough' } }
    const body = start({ policies: { requiresHitlApproval: true, runtime: [stop] } }, one)
    const seen = await frames(await first.call(`${api}/run.stream`, { body }))
    expect(triggered(seen)).toEqual([])
    const { runId } = seen[0] as SseFrame
    await first.server.close({ graceMs: 0 })
    await leave(first.app)
    const second = await serve(options)
    const fire = (policyId: string) =>
      second.call(`${api}/runs/${runId}/policies/${policyId}/trigger`, { body: {} })
    expect((await fire('other')).status).toBe(404)
    expect((await fire('stop')).status).toBeLessThan(300)
    const rest = await frames(
      await second.call(`${api}/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } }),
    )
    expect(triggered(rest)).toEqual(['stop'])
    expect(rest.at(-1)).toMatchObject({ payload: { status: 'failed', error: { message: 'Enough' } } })
  }, 60_000)
})
