/** Runs as traces: which spans there are, where they hang, what they say, and what they keep to themselves. */
import { context, trace as otel } from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/adapters/stores/open-store.ts'
import {
  type Dispatcher,
  defineCapability,
  type ModelRequest,
  type Provider,
  tracedProvider,
} from '../../src/index.ts'
import { modelPlanner } from '../../src/plan/index.ts'
import { rehearsal } from '../../src/testing/index.ts'
import { answer, envelope, local, open, rao, says, text } from './support.ts'

function tracer() {
  const memory = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(memory)] })
  return { tracer: provider.getTracer('test'), spans: () => memory.getFinishedSpans() }
}

/** Every finished span below its parent, by name. */
function tree(spans: readonly ReadableSpan[]): string[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId))
  const below = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter((span) => {
        const id = span.parentSpanContext?.spanId
        return parent === undefined ? id === undefined || !ids.has(id) : id === parent
      })
      .sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])
      .flatMap((span) => ['  '.repeat(depth) + span.name, ...below(span.spanContext().spanId, depth + 1)])
  return below(undefined, 0)
}

const writer = defineCapability({
  capabilityId: 'write',
  kind: 'model',
  inputContract: { type: 'object' },
  outputContract: text,
  preferredModels: ['house/tea'],
})
const one = { nodes: [{ id: 'write', capabilityId: 'write' }] }

describe('tracing', () => {
  it('a plain run is one tree: the run, its plan, and a span for every call', async () => {
    const { tracer: own, spans } = tracer()
    const capabilities = [local('pick', () => ({ text: 'green' })), writer]
    const app = await open({ capabilities, providers: [rehearsal()], tracing: { tracer: own } })
    const draft = {
      nodes: [
        { id: 'pick', capabilityId: 'pick' },
        { id: 'write', capabilityId: 'write' },
      ],
      edges: [{ from: 'pick', to: 'write' }],
    }
    const { status, runId } = await app.run(envelope(), { draft })
    expect(status).toBe('completed')
    expect(tree(spans())).toEqual(['invoke_workflow', '  plan', '  execute_tool pick', '  chat tea'])
    const [run] = spans().filter(({ name }) => name === 'invoke_workflow')
    expect(run?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_workflow',
      'proviso.run.id': runId,
      'proviso.run.status': 'completed',
      'proviso.plan.version': 1,
    })
    const [tool] = spans().filter(({ name }) => name.startsWith('execute_tool'))
    expect(tool?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'pick',
      'proviso.node.id': 'pick',
      'proviso.outcome': 'ok',
    })
  })

  it('a ladder shows every call of the model, and each has its own usage', async () => {
    const { tracer: own, spans } = tracer()
    const bad = {
      kind: 'text',
      text: 'no tea today',
      finish: 'stop',
      usage: { inputTokens: 10, outputTokens: 3 },
    } as const
    const model = rehearsal({ faults: { 1: bad, 2: bad } })
    const app = await open({ capabilities: [writer], providers: [model], tracing: { tracer: own } })
    await expect(app.run(envelope(), { draft: one })).resolves.toMatchObject({ status: 'completed' })
    expect(tree(spans())).toEqual(['invoke_workflow', '  plan', '  chat tea', '  chat tea', '  chat tea'])
    const used = spans().filter((span) => 'gen_ai.usage.input_tokens' in span.attributes)
    expect(used.map(({ name }) => name)).toEqual(['chat tea', 'chat tea', 'chat tea'])
    expect(used[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': '*',
      'gen_ai.request.model': 'tea',
      'gen_ai.usage.input_tokens': 10,
      'gen_ai.usage.output_tokens': 3,
      'gen_ai.response.finish_reasons': ['stop'],
      'proviso.node.id': 'write',
      'proviso.attempt': 1,
    })
  })

  it('a process that leaves a run to others ends its span with the start, and theirs is linked to it', async () => {
    const [api, worker] = [tracer(), tracer()]
    const store = await openStore('memory:')
    const capabilities = [local('write', () => ({ text: 'Tea' }))]
    const first = await open({ store, capabilities, claim: 'none', tracing: { tracer: api.tracer } })
    const { id } = await first.start(envelope(), { draft: one })
    const [started] = api.spans()
    expect(started).toMatchObject({
      name: 'invoke_workflow',
      attributes: { 'proviso.run.status': 'pending' },
    })
    const second = await open({ store, capabilities, tracing: { tracer: worker.tracer } })
    await (await second.attach(id)).result()
    const [resumed] = worker.spans().filter(({ name }) => name === 'invoke_workflow')
    expect(resumed?.links[0]?.context.spanId).toBe(started?.spanContext().spanId)
    expect(api.spans()).toHaveLength(1)
  })

  it('a resumed run is a trace of its own, linked to where the run began, after a restart as well', async () => {
    const first = tracer()
    const store = await openStore('memory:')
    const capabilities = [
      says('write', [rao({ text: 'Tea is warm' }, 0.7)]),
      local('send', () => ({ text: 'sent' })),
    ]
    const draft = {
      nodes: [
        { id: 'write', capabilityId: 'write', data: { contract: true } },
        { id: 'send', capabilityId: 'send' },
      ],
      edges: [{ from: 'write', to: 'send' }],
    }
    const before = await open({ store, capabilities, tracing: { tracer: first.tracer } })
    const { runId, status } = await before.run(envelope(), { draft })
    expect(status).toBe('waiting')
    expect(tree(first.spans())).toEqual(['invoke_workflow', '  plan', '  execute_tool write'])
    const [began] = first.spans().filter(({ name }) => name === 'invoke_workflow')
    expect(began?.attributes['proviso.run.status']).toBe('awaiting_hitl')
    await before.close()

    const second = tracer()
    const after = await open({ store, capabilities, tracing: { tracer: second.tracer } })
    await answer(after, runId, 'approve')
    await expect(after.result(runId)).resolves.toMatchObject({ status: 'completed' })
    expect(tree(second.spans())).toEqual(['invoke_workflow', '  execute_tool send'])
    const [resumed] = second.spans().filter(({ name }) => name === 'invoke_workflow')
    expect(resumed?.parentSpanContext).toBeUndefined()
    expect(resumed?.spanContext().traceId).not.toBe(began?.spanContext().traceId)
    expect(resumed?.links.map((link) => link.context.spanId)).toEqual([began?.spanContext().spanId])
    expect(resumed?.attributes).toMatchObject({
      'proviso.run.resumed': true,
      'proviso.run.status': 'completed',
    })
  })

  it('an approval after which nothing is called still shows as a part of the run', async () => {
    const { tracer: own, spans } = tracer()
    const capabilities = [says('write', [rao({ text: 'Tea is warm' }, 0.7)])]
    const app = await open({ capabilities, tracing: { tracer: own } })
    const draft = { nodes: [{ id: 'write', capabilityId: 'write', data: { contract: true } }] }
    const { runId } = await app.run(envelope(), { draft })
    await answer(app, runId, 'approve')
    await app.result(runId)
    expect(tree(spans())).toEqual(['invoke_workflow', '  plan', '  execute_tool write', 'invoke_workflow'])
  })

  it('the trace of the caller comes in, and is passed to every called service', async () => {
    const { tracer: own, spans } = tracer()
    const seen: (string | undefined)[] = []
    const agent: Dispatcher = {
      kind: 'http',
      remote: true,
      async dispatch({ trace }) {
        seen.push(trace?.traceparent)
        return { outcome: 'ok', output: { value: { text: 'sent' } }, issues: [], usage: { calls: 1 } }
      },
    }
    const inner = rehearsal()
    const model: Provider = {
      name: '*',
      generate(request: ModelRequest) {
        seen.push(request.trace?.traceparent)
        return inner.generate(request)
      },
    }
    const remote = defineCapability({
      capabilityId: 'send',
      kind: 'http',
      inputContract: { type: 'object' },
      outputContract: text,
      sideEffect: false,
    })
    const app = await open({
      capabilities: [remote, writer],
      dispatchers: [agent],
      providers: [model],
      tracing: { tracer: own },
    })
    const draft = {
      nodes: [
        { id: 'write', capabilityId: 'write' },
        { id: 'send', capabilityId: 'send' },
      ],
      edges: [{ from: 'write', to: 'send' }],
    }
    const traceId = 'a'.repeat(32)
    const done = await app.run(envelope(), { draft, traceparent: `00-${traceId}-${'b'.repeat(16)}-01` })
    expect(done.status).toBe('completed')
    const [run] = spans().filter(({ name }) => name === 'invoke_workflow')
    expect(run?.parentSpanContext?.spanId).toBe('b'.repeat(16))
    expect(run?.spanContext().traceId).toBe(traceId)
    const chat = spans()
      .find(({ name }) => name.startsWith('chat'))
      ?.spanContext()
    expect(seen[0]).toBe(`00-${traceId}-${chat?.spanId}-01`)
    const tool = spans()
      .find(({ name }) => name.startsWith('execute_tool'))
      ?.spanContext()
    expect(seen[1]).toBe(`00-${traceId}-${tool?.spanId}-01`)
  })

  it('words stay out of spans, unless they are wanted, and secrets even then', async () => {
    const secret = 'canary-7261-secret'
    const run = async (captureContent: boolean) => {
      const { tracer: own, spans } = tracer()
      const app = await open({
        capabilities: [writer],
        providers: [rehearsal()],
        secrets: [secret],
        tracing: { tracer: own, captureContent },
      })
      await app.run(envelope({ objective: `Write about marigold tea, ${secret}` }), { draft: one })
      return JSON.stringify(
        spans().map(({ name, attributes, events, status }) => [name, attributes, events, status]),
      )
    }
    const silent = await run(false)
    expect(silent).not.toContain('marigold')
    expect(silent).not.toContain(secret)
    const verbose = await run(true)
    expect(verbose).toContain('gen_ai.input.messages')
    expect(verbose).toContain('marigold')
    expect(verbose).not.toContain(secret)
  })

  it('the calls of a planner hang below the plan, once, however its provider is wrapped', async () => {
    const { tracer: own, spans } = tracer()
    const provider = tracedProvider(tracedProvider(rehearsal({ name: 'local' }), { tracer: own }))
    const planner = modelPlanner({ provider, model: 'planner', asks: 1 })
    const app = await open({
      capabilities: [local('write', () => ({ text: 'tea' }))],
      planner,
      tracing: { tracer: own },
    })
    await app.run(envelope())
    expect(tree(spans()).slice(0, 3)).toEqual(['invoke_workflow', '  plan', '    chat planner'])
  })

  it('a run that fails says so on its span, by the code and not by words', async () => {
    const { tracer: own, spans } = tracer()
    const fails = local('write', () => {
      throw new Error('marigold')
    })
    const app = await open({ capabilities: [fails], tracing: { tracer: own } })
    await app.run(envelope(), { draft: one })
    const [run] = spans().filter(({ name }) => name === 'invoke_workflow')
    expect(run).toMatchObject({ status: { code: 2 }, attributes: { 'proviso.run.status': 'failed' } })
    expect(run?.attributes['error.type']).toMatch(/^[\w/_-]+$/)
    expect(
      JSON.stringify(spans().map(({ attributes, status, events }) => [attributes, status, events])),
    ).not.toContain('marigold')
  })

  it('without a tracer nothing is made, and the trace of the caller still goes through', async () => {
    const seen: (string | undefined)[] = []
    const inner = rehearsal()
    const model: Provider = {
      name: '*',
      generate(request) {
        seen.push(request.trace?.traceparent)
        return inner.generate(request)
      },
    }
    const app = await open({ capabilities: [writer], providers: [model] })
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    await app.run(envelope(), { draft: one, traceparent })
    await app.run(envelope(), { draft: one })
    expect(seen).toEqual([traceparent, undefined])
    expect(otel.getSpan(context.active())).toBeUndefined()
  })

  it('an id that is taken leaves the span of the running run alone', async () => {
    const { tracer: own, spans } = tracer()
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = local('write', async () => {
      await gate
      return { text: 'tea' }
    })
    const app = await open({ capabilities: [slow], tracing: { tracer: own } })
    const { id: runId } = await app.start(envelope(), { draft: one, runId: 'same' })
    await expect(app.prepare(envelope(), { draft: one, runId: 'same' }).start()).rejects.toMatchObject({
      code: 'run/exists',
    })
    expect((await app.start(envelope(), { draft: one, runId: 'same' })).id).toBe(runId)
    release()
    await app.result(runId)
    expect(tree(spans())).toEqual(['invoke_workflow', '  plan', '  execute_tool write'])
  })
})
