/** What cannot be carried out is not planned with, and the finding says why; limits are compared with what a plan takes. */

import { createApp, defineCapability } from 'proviso'
import { rehearsal } from 'proviso/testing'
import { describe, expect, it } from 'vitest'
import type { DraftInput } from '../../../src/domain/envelope/envelope-input.ts'
import { serve, useServeProcesses } from '../settings/serve-process.ts'

useServeProcesses()

const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const envelope = (more: object = {}) => ({ objective: 'One line', outputContract: { schema }, ...more })
const claude = defineCapability({
  capabilityId: 'claude',
  kind: 'model',
  preferredModels: ['anthropic/claude-haiku-4-5'],
  inputContract: { type: 'object' },
  outputContract: schema,
})
const draft = { nodes: [{ id: 'write', capabilityId: 'claude' }] }

describe('a model capability without a key', () => {
  it('is inactive: a draft that names it is rejected with the reason, before any attempt', async () => {
    const app = await createApp({ capabilities: [claude], env: {} })
    expect(app.capabilities().map(({ capabilityId }) => capabilityId)).not.toContain('claude')
    expect(app.inactive().get('claude')).toContain('Set ANTHROPIC_API_KEY')
    const done = await app.run(envelope(), { draft })
    expect(done.status).toBe('failed')
    const events = await app.store.read(done.runId, 0)
    expect(events.map(({ type }) => type)).not.toContain('attempt_start')
    const rejected = events.find(({ type }) => type === 'plan_rejected')
    expect(JSON.stringify(rejected)).toContain('It is inactive: the model')
    expect(JSON.stringify(rejected)).toContain('ANTHROPIC_API_KEY')
    await app.close()
  })

  it('is active when another preferred model has a provider', async () => {
    const either = { ...claude.capability, preferredModels: ['anthropic/x', 'test/m'] }
    const app = await createApp({
      capabilities: [{ capability: either }],
      providers: [rehearsal({ name: 'test' })],
      env: {},
    })
    expect((await app.run(envelope(), { draft })).status).toBe('completed')
    await app.close()
  })

  it('is left out by the planner, and what it could have done is said with the reason', async () => {
    const app = await createApp({ capabilities: [claude], env: {} })
    const done = await app.run(envelope())
    expect(done.status).toBe('failed')
    const events = await app.store.read(done.runId, 0)
    expect(JSON.stringify(events.find(({ type }) => type === 'plan_rejected'))).toContain('ANTHROPIC_API_KEY')
    await app.close()
  })

  it('is shown as inactive by a server, whose proof says the same', async () => {
    const server = await serve({ args: ['--preset', 'marketing'] })
    const { capabilities } = (await (await server.call('/api/v1/flex/capabilities')).json()) as {
      capabilities: { capabilityId: string; status: string; reason?: string }[]
    }
    expect(capabilities.find(({ capabilityId }) => capabilityId === 'proviso.answer')).toMatchObject({
      status: 'inactive',
      reason: expect.stringContaining('OPENAI_API_KEY'),
    })
    const proof = await (await server.call('/api/v1/flex/prove', { envelope: envelope() })).text()
    expect(JSON.parse(proof)).toMatchObject({ accepted: false })
    expect(proof).toContain('OPENAI_API_KEY')
  })
})

describe('limits', () => {
  const model = defineCapability({
    capabilityId: 'claude',
    kind: 'model',
    preferredModels: ['openai/gpt-5'],
    inputContract: { type: 'object' },
    outputContract: schema,
  })
  const app = () => {
    // It costs what the list says.
    const { free: _, ...provider } = rehearsal()
    return createApp({ capabilities: [model], providers: [provider], env: {} })
  }

  it.each([
    ['maxTokens', { maxTokens: 50 }],
    ['maxCostUsd', { maxCostUsd: 0.0000001 }],
  ])('below what the plan takes at least reject it: %s', async (name, constraints) => {
    const opened = await app()
    const done = await opened.run(envelope({ constraints }), { draft })
    expect(done.status).toBe('failed')
    const events = await opened.store.read(done.runId, 0)
    expect(events.map(({ type }) => type)).not.toContain('attempt_start')
    const rejected = JSON.stringify(events.find(({ type }) => type === 'plan_rejected'))
    expect(rejected).toContain('plan/over-limit')
    expect(rejected).toContain(`Raise ${name}`)
    await opened.close()
  })

  it('below what it may take at most are a finding, and the plan runs', async () => {
    const opened = await app()
    const { tokens } = opened.estimate(envelope(), { draft })
    const enough = Math.floor((tokens.least + tokens.most) / 2)
    const done = await opened.run(envelope({ constraints: { maxTokens: enough } }), { draft })
    const events = await opened.store.read(done.runId, 0)
    expect(JSON.stringify(events.find(({ type }) => type === 'plan_generated'))).toContain(
      'plan/may-exceed-limit',
    )
    expect(events.map(({ type }) => type)).toContain('attempt_start')
    await opened.close()
  })

  it('of cost with a model of unknown price are a finding before the run, with what to set', async () => {
    const { free: _, ...provider } = rehearsal()
    const own = { ...model.capability, preferredModels: ['openai/own-model'] }
    const opened = await createApp({
      capabilities: [{ ...model, capability: own }],
      providers: [provider],
      env: {},
    })
    const finding = async (constraints: object) => {
      const { runId } = await opened.run(envelope({ constraints }), { draft })
      const events = await opened.store.read(runId, 0)
      return JSON.stringify(events.find(({ type }) => type === 'plan_generated'))
    }
    expect(await finding({ maxCostUsd: 1 })).toMatch(/openai\/own-model.*`prices`.*plan\/price-unknown/)
    expect(await finding({ maxTokens: 1_000_000 })).not.toContain('plan/price-unknown')
    await opened.close()
  })

  it('count only nodes that always run', async () => {
    const opened = await app()
    const node = (id: string) => ({ id, capabilityId: 'claude' })
    const branches: DraftInput = {
      nodes: [node('write'), { ...node('spare'), kind: 'fallback' }],
      edges: [{ from: 'write', to: 'spare', when: 'fail' }],
    }
    const alone = opened.estimate(envelope(), { draft }).tokens.least
    const done = await opened.run(envelope({ constraints: { maxTokens: alone + 10 } }), {
      draft: branches,
    })
    const events = await opened.store.read(done.runId, 0)
    expect(events.map(({ type }) => type)).toContain('plan_generated')
    await opened.close()
  })
})
