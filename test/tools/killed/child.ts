/**
 * The process that is killed: runs an agent whose model and tools are in the parent, and answers its asks. Reports every
 * write as it begins and ends, and waits for the parent, which may kill it there.
 */
import { writeSync } from 'node:fs'
import { compatible } from '../../../src/adapters/providers/compatible.ts'
import { openStore } from '../../../src/adapters/stores/open-store.ts'
import { createApp, defineAgent, tool } from '../../../src/index.ts'
import { answerSchema, draft, envelope, query } from '../agent-parts.ts'
import type { ScenarioName } from './scenarios.ts'

export interface Task {
  readonly store: string
  readonly scenario: ScenarioName
  readonly model: string
  readonly tools: string
  readonly runId: string
  readonly leaseMs: number
}

const { store: address, scenario, model, tools, runId, leaseMs } = JSON.parse(process.argv[2] ?? '{}') as Task

/** Asks the parent; it may kill this process now. */
async function post(path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${tools}${path}`, { method: 'POST', body: JSON.stringify(body) })
  return response.json()
}

const output = { type: 'object', properties: { done: { type: 'string' } }, required: ['done'] } as const
const define = (id: string, more: object) =>
  tool({
    id,
    input: query,
    output,
    run: (inputs: unknown, { idempotencyKey: key }: { readonly idempotencyKey: string }) =>
      post('/act', { name: id, inputs, key }),
    ...more,
  } as never)

const all = [
  define('search', { idempotent: true }),
  define('pay', { idempotent: true, sideEffect: true }),
  define('send', { sideEffect: true }),
  define('wire', { sideEffect: true, approval: 'always' }),
]
const modelId = 'compatible/scripted'
const helper = defineAgent({
  id: 'helper',
  summary: 'Helps',
  model: modelId,
  instructions: 'You are the helper.',
  input: query,
  output,
  tools: all,
})
const closer = defineAgent({
  id: 'closer',
  summary: 'Closes',
  model: modelId,
  instructions: 'You are the closer.',
  toolChoice: { tool: 'pay' },
  modelSettings: { temperature: 0.5 },
  input: query,
  output: answerSchema,
  tools: all,
})
const agent = defineAgent({
  id: 'researcher',
  model: modelId,
  input: { type: 'object', properties: { question: { type: 'string' } } },
  output: answerSchema,
  ...(scenario === 'loop' ? { tools: all } : { tools: [...all, helper], handoffs: [closer] }),
})

const reported = /^(turn|tool|attempt|hitl|node)_|^complete$/

const store = await openStore(address)
const watched = {
  ...store,
  async append(given: Parameters<typeof store.append>[0]) {
    const names = given.events.map(({ type }) => type).filter((type) => reported.test(type))
    if (names.length > 0) await post('/pass', `before ${names.join('+')}`)
    const result = await store.append(given)
    if (names.length > 0) await post('/pass', `after ${names.join('+')}`)
    return result
  },
}

const app = await createApp({
  store: watched,
  capabilities: [agent],
  providers: [compatible({ baseURL: model })],
  pollMs: 50,
  leaseMs,
})
/** Another process may have done it already. */
async function orRefused(doing: Promise<unknown>, codes: readonly string[]): Promise<void> {
  try {
    await doing
  } catch (cause) {
    if (!codes.includes(String((cause as { readonly code?: unknown }).code))) throw cause
  }
}

if ((await store.head(runId)) === undefined)
  await orRefused(app.start({ ...envelope, constraints: { maxAsks: 12 } }, { runId, draft }), ['run/exists'])
for (;;) {
  const result = await app.result(runId)
  if (result.status !== 'waiting') {
    if (result.status === 'failed') writeSync(1, `failed: ${JSON.stringify(result.error)}\n`)
    const { differences } = await app.replay(runId)
    for (const difference of differences) writeSync(1, `replayed otherwise: ${JSON.stringify(difference)}\n`)
    writeSync(1, `ended ${result.status}\n`)
    break
  }
  for (const { requestId, valueHash, value, decisions } of await store.asks({ runId, status: 'pending' })) {
    const reply = (await post('/decide', { value, decisions })) as { readonly decision: 'approve' }
    await orRefused(app.reply(runId, { requestId, valueHash, by: 'operator', ...reply }), [
      'ask/resolved',
      'ask/unknown',
    ])
  }
}
await app.close()
await store.close()
process.exit(0)
