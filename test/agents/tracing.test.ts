/** Promises about traces of calls to agents: each carries the span of its attempt, and a run that was resumed stays findable. */
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/adapters/stores/open-store.ts'
import type { AppOptions } from '../../src/index.ts'
import { answer, leave } from '../journeys/support.ts'
import { frames } from '../server/support.ts'
import {
  agent,
  api,
  copyVariants,
  json,
  type ReceivedCall,
  serveAgents,
  status,
  wanted,
  writer,
  writing,
} from './support.ts'

function tracer() {
  const memory = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(memory)] })
  const named = (name: string) => memory.getFinishedSpans().filter((span) => span.name.startsWith(name))
  return { tracer: provider.getTracer('test'), named }
}

const parentOf = (span: ReadableSpan | undefined) => {
  const { traceId = '', spanId = '' } = span?.spanContext() ?? {}
  return `00-${traceId}-${spanId}-01`
}
const traceOf = (traceparent: unknown) => String(traceparent).split('-')[1]
const traceparents = ({ received }: Awaited<ReturnType<typeof agent>>) =>
  received.map(({ headers }) => headers['traceparent'])

const callers = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

/** The first node's output is approved by a person, then the second is called. */
const twice = {
  nodes: [...writing().nodes, { ...writing().nodes[0], id: 'again', capabilityId: 'writer.en' }],
  edges: [{ from: 'write', to: 'again' }],
  output: { node: 'again' },
}
const approvedFirst = wanted({ policies: { planner: { directives: { hitlRequiredFor: ['write'] } } } })

/** Announces a later answer, and resolves when it was called. */
async function laterAgent() {
  let resolveCall = (_received: ReceivedCall) => {}
  const called = new Promise<ReceivedCall>((resolve) => {
    resolveCall = resolve
  })
  const { url } = await agent((response, received) => {
    status(202)(response, received)
    resolveCall(received)
  })
  return { url, called }
}

describe('a call to an agent', () => {
  it('carries the span of its attempt, in the trace of the caller that started the run', async () => {
    const it = await agent(status(500), json({ copyVariants }))
    const { tracer: own, named } = tracer()
    const served = await serveAgents({ tracing: { tracer: own } })
    await served.register(writer(it.url), await served.agentToken())
    const stream = await frames(
      await served.call(`${api}/run.stream`, {
        body: { envelope: wanted(), draft: writing({ retry: { max: 1 } }) },
        headers: { traceparent: callers },
      }),
    )
    expect(stream.at(-1)?.payload).toMatchObject({ status: 'completed' })
    const [first, second] = named('execute_tool')
    expect(traceparents(it)).toEqual([parentOf(first), parentOf(second)])
    expect(traceparents(it).map(traceOf)).toEqual(['a'.repeat(32), 'a'.repeat(32)])
    expect([first, second].map((span) => span?.attributes['proviso.attempt'])).toEqual([1, 2])
    expect(first?.attributes['proviso.outcome']).not.toBe('ok')
  })

  it('of a run that was resumed in another process carries its own span, linked to where the run began', async () => {
    const it = await agent(json({ copyVariants }))
    const store = await openStore('memory:')
    const [one, two] = [tracer(), tracer()]
    const before = await serveAgents({ store, tracing: { tracer: one.tracer } })
    await before.register(writer(it.url), await before.agentToken())
    const { runId, status } = await before.app.run(approvedFirst, {
      draft: twice,
      traceparent: callers,
    })
    expect(status).toBe('waiting')
    await before.server.close({ graceMs: 0 })
    await leave(before.app)

    const after = await serveAgents({ store, tracing: { tracer: two.tracer } })
    await answer(after.app, runId, 'approve')
    expect((await after.app.result(runId)).status).toBe('completed')
    const [began] = one.named('invoke_workflow')
    const [resumed] = two.named('invoke_workflow')
    const [call] = two.named('execute_tool')
    expect(traceparents(it)).toEqual([parentOf(one.named('execute_tool')[0]), parentOf(call)])
    expect(call?.parentSpanContext?.spanId).toBe(resumed?.spanContext().spanId)
    expect(resumed?.links.map(({ context }) => context.spanId)).toEqual([began?.spanContext().spanId])
    expect(began?.spanContext().traceId).toBe('a'.repeat(32))
  })

  it.each<[how: string, options: AppOptions]>([
    ['there is no tracer', {}],
    ['tracing is off', { tracing: false }],
  ])('stays in the caller’s trace where %s, after a restart as well', async (_how, options) => {
    const it = await agent(json({ copyVariants }))
    const store = await openStore('memory:')
    const before = await serveAgents({ store, ...options })
    await before.register(writer(it.url), await before.agentToken())
    const { runId } = await before.app.run(approvedFirst, { draft: twice, traceparent: callers })
    await before.server.close({ graceMs: 0 })
    await leave(before.app)
    const after = await serveAgents({ store, ...options })
    await answer(after.app, runId, 'approve')
    expect((await after.app.result(runId)).status).toBe('completed')
    expect(traceparents(it)).toEqual([callers, callers])
  })

  it('of one run is one trace even where the caller has none, and every attempt is a span of its own', async () => {
    const it = await agent(status(500), json({ copyVariants }))
    const served = await serveAgents()
    await served.register(writer(it.url), await served.agentToken())
    await served.app.run(wanted(), { draft: writing({ retry: { max: 1 } }) })
    const [first, second] = traceparents(it)
    expect(traceOf(first)).toBe(traceOf(second))
    expect(first).not.toBe(second)
  })

  it('lets what goes wrong when the agent calls back be found under the same trace', async () => {
    const served = await serveAgents()
    const { url, called } = await laterAgent()
    await served.register(writer(url), await served.agentToken())
    const { id: runId } = await served.app.start(wanted(), { draft: writing() })
    const { call, headers } = await called
    const traceparent = String(headers['traceparent'])
    const unsigned = await fetch(call.callbackUrl ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent },
      body: JSON.stringify({ output: { copyVariants } }),
    })
    expect(await unsigned.json()).toMatchObject({ code: 'callback/forged', traceId: traceOf(traceparent) })
    await served.app.cancel(runId, { by: 'ann' })
  })
})
