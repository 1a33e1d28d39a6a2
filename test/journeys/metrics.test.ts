/** Counters and log lines on every path a run can take: plain, refused, repaired, asked, resumed, taken over. */
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/adapters/stores/open-store.ts'
import { type App, defineCapability } from '../../src/index.ts'
import { rehearsal } from '../../src/testing/index.ts'
import { createLog, createMetrics } from '../seams/server.ts'
import { answer, envelope, local, open, rao, says, text } from './support.ts'

const plain = { nodes: [{ id: 'write', capabilityId: 'write' }] }
const reviewed = { nodes: [{ id: 'write', capabilityId: 'write', data: { contract: true } }] }

/** What was counted: `name{labels}` to value, zeroes left out. */
async function counted(app: App) {
  const metrics = createMetrics()
  app.subscribeToLifecycle(metrics.onNotice)
  return async () => {
    const lines = (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    const entries = lines.map(
      (line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))] as const,
    )
    return Object.fromEntries(entries.filter(([name, value]) => value !== 0 && !name.includes('_bucket')))
  }
}

function lines(app: App, verbose = false) {
  const written: string[] = []
  const log = createLog({
    redactor: app.redactor,
    verbose,
    destination: { write: (line: string) => void written.push(line) },
  })
  app.subscribeToLifecycle(log.onNotice)
  return () => written.map((line) => JSON.parse(line) as { [key: string]: unknown })
}

const writer = defineCapability({
  capabilityId: 'write',
  kind: 'model',
  inputContract: { type: 'object' },
  outputContract: text,
  preferredModels: ['house/tea'],
})

describe('metrics', () => {
  it('a plain run is counted once everywhere', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'tea' }))] })
    const counts = await counted(app)
    await app.run(envelope(), { draft: plain })
    expect(await counts()).toMatchObject({
      'flex_planner_requests{phase="initial"}': 1,
      'flex_planner_generated{resumed="false"}': 1,
      'flex_run_status{status="completed"}': 1,
      'flex_node_duration_ms_count{capabilityId="write"}': 1,
    })
  })

  it('a question and its answer are counted, and the resumed part like any other', async () => {
    const store = await openStore('memory:')
    const capabilities = [says('write', [rao({ text: 'Tea is warm' }, 0.7)])]
    const before = await open({ store, capabilities })
    const first = await counted(before)
    const { runId } = await before.run(envelope(), { draft: reviewed })
    expect(await first()).toMatchObject({
      'flex_hitl_requests{kind="approval"}': 1,
      'flex_run_status{status="awaiting_hitl"}': 1,
    })
    await before.close()
    const after = await open({ store, capabilities })
    const second = await counted(after)
    await answer(after, runId, 'approve')
    await after.result(runId)
    expect(await second()).toEqual({
      'flex_hitl_resolved{decision="approve"}': 1,
      'flex_run_status{status="completed"}': 1,
      'flex_node_duration_ms_count{capabilityId="write"}': 1,
      'flex_node_duration_ms_sum{capabilityId="write"}': expect.any(Number),
    })
  })

  it('a pause and its resumption count as such', async () => {
    const policies = {
      runtime: [
        {
          id: 'hold',
          trigger: { kind: 'onNodeComplete', selector: { capabilityId: 'write' } },
          action: { type: 'pause', reason: 'look first' },
        },
      ],
    }
    const app = await open({ capabilities: [local('write', () => ({ text: 'tea' }))] })
    const counts = await counted(app)
    const { runId, status } = await app.run(envelope({ policies }), { draft: plain })
    expect(status).toBe('waiting')
    await app.resume(runId, { by: 'ann' })
    await app.result(runId)
    expect(await counts()).toMatchObject({
      'flex_policy_triggers{action="pause"}': 1,
      'flex_run_status{status="awaiting_human"}': 1,
      'flex_planner_generated{resumed="true"}': 1,
      'flex_run_status{status="completed"}': 1,
    })
  })

  it('an answer that does not satisfy its contract and is tried again counts as a validation retry', async () => {
    const capabilities = [says('write', ['no tea', '{"text":"tea"}'])]
    const app = await open({ capabilities })
    const counts = await counted(app)
    const draft = { nodes: [{ id: 'write', capabilityId: 'write', retry: { max: 1 } }] }
    await expect(app.run(envelope(), { draft })).resolves.toMatchObject({ status: 'completed' })
    expect(await counts()).toMatchObject({ flex_validation_retries: 1 })
  })

  it('rejected drafts and failed runs are counted', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'tea' }))] })
    const counts = await counted(app)
    const draft = { nodes: [{ id: 'write', capabilityId: 'unregistered' }] }
    await expect(app.run(envelope(), { draft })).resolves.toMatchObject({ status: 'failed' })
    expect(await counts()).toMatchObject({
      flex_planner_rejections: expect.any(Number),
      'flex_run_status{status="failed"}': 1,
    })
  })

  it('what models used, how they were read and which fallback steps they took is counted', async () => {
    const bad = {
      kind: 'text',
      text: 'no tea today',
      finish: 'stop',
      usage: { inputTokens: 10, outputTokens: 3 },
    } as const
    // As a paid provider with an unknown price.
    const { free: _, ...priced } = rehearsal({ faults: { 1: bad } })
    const app = await open({ capabilities: [writer], providers: [priced] })
    const counts = await counted(app)
    await app.run(envelope(), { draft: plain })
    const found = await counts()
    expect(found).toMatchObject({
      'agent_usage{model="house/tea",unit="calls"}': 2,
      'agent_usage{model="house/tea",unit="unpriced_calls"}': 2,
      aros_aop_syntactic_fail: 1,
      aros_aop_coercion_skip: 1,
    })
    expect(found['agent_usage{model="house/tea",unit="input_tokens"}']).toBeGreaterThan(10)
  })
})

describe('log lines', () => {
  it('have the names of the specification, with ids, plan version and provenance', async () => {
    const app = await open({ capabilities: [says('write', ['no tea', '{"text":"tea"}'])] })
    const written = lines(app)
    const draft = { nodes: [{ id: 'write', capabilityId: 'write', retry: { max: 1 } }] }
    const { runId } = await app.run(envelope(), { draft, correlationId: 'corr-1' })
    expect(written().map(({ msg }) => msg)).toEqual([
      'flex_plan_requested',
      'flex_capability_dispatch_start',
      'flex_capability_dispatch_error',
      'flex_validation_failed',
      'flex_capability_dispatch_start',
      'flex_capability_dispatch_complete',
      'flex_node_complete',
      'flex_run_complete',
    ])
    expect(written()).toEqual(
      written().map(() =>
        expect.objectContaining({ runId, correlationId: 'corr-1', planVersion: expect.any(Number) }),
      ),
    )
    expect(written().at(-2)).toMatchObject({
      nodeId: 'write',
      capabilityId: 'write',
      durationMs: expect.any(Number),
    })
  })

  it('say by its code what ended an attempt', async () => {
    const faults = () => ({ kind: 'error', message: 'Broken', fatal: true }) as const
    const app = await open({ capabilities: [writer], providers: [rehearsal({ faults })] })
    const written = lines(app)
    await app.run(envelope(), { draft: plain })
    const ended = written().find(({ msg }) => msg === 'flex_capability_dispatch_error')
    expect(ended).toMatchObject({ issues: [{ code: 'attempt/provider_error', at: { pointer: '' } }] })
  })

  it('carry nothing that callers or models wrote, and no secret', async () => {
    const secret = 'canary-7261-secret'
    const app = await open({ capabilities: [writer], providers: [rehearsal()], secrets: [secret] })
    const written = lines(app, true)
    await app.run(envelope({ objective: `About marigold tea ${secret}` }), {
      draft: plain,
      correlationId: secret,
    })
    expect(written().length).toBeGreaterThan(4)
    expect(JSON.stringify(written())).not.toContain('marigold')
    expect(JSON.stringify(written())).not.toContain(secret)
  })

  it('include the trace of model calls only when `aros.telemetry.verbose` is on', async () => {
    const run = async (verbose: boolean) => {
      const app = await open({ capabilities: [writer], providers: [rehearsal()] })
      const written = lines(app, verbose)
      await app.run(envelope(), { draft: plain })
      return written().map(({ msg }) => msg)
    }
    expect(await run(false)).not.toContain('agent.usage')
    expect(await run(true)).toContain('agent.usage')
  })

  it('say that a policy acted', async () => {
    const policies = {
      runtime: [
        {
          id: 'hold',
          trigger: { kind: 'onNodeComplete', selector: { capabilityId: 'write' } },
          action: { type: 'pause' },
        },
      ],
    }
    const app = await open({ capabilities: [local('write', () => ({ text: 'tea' }))] })
    const written = lines(app)
    await app.run(envelope({ policies }), { draft: plain })
    expect(written()).toContainEqual(
      expect.objectContaining({ msg: 'flex_policy_triggered', policyId: 'hold', action: 'pause' }),
    )
  })
})
