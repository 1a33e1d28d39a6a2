/** Tools, a schema and a stream together, on every wire, against servers that refuse what the real ones refuse. */
import { afterEach, describe, expect, it } from 'vitest'
import type { NodePartial } from '../../../src/adapters/executors/model.ts'
import { type App, defineAgent, tool } from '../../../src/index.ts'
import type { AgentDefinition } from '../../../src/types.ts'
import { journal, open } from '../../journeys/support.ts'
import { answerSchema, draft, envelope, query } from '../../tools/agent-parts.ts'
import type { ModelServer } from '../model-server.ts'
import { type ScriptedTurn, serveWire, type Wire, wires } from './wires.ts'

const servers: ModelServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const answer = { answer: 'Because it warms', sources: ['a', 'b'] }
const called: string[] = []
const tools = ['search', 'read'].map((id) =>
  tool({
    id,
    description: `Does ${id}`,
    input: query,
    output: { type: 'object', properties: { found: { type: 'string' } }, required: ['found'] },
    idempotent: true,
    run: (input) => {
      called.push(`${id} ${(input as { query: string }).query}`)
      return { found: `about ${(input as { query: string }).query}` }
    },
  }),
)

/** Two calls at once, one more, the answer. */
const script = (turn: number): ScriptedTurn =>
  [
    {
      thought: 'I need both',
      text: 'I look it up.',
      calls: [
        { name: 'search', input: { query: 'tea' } },
        { name: 'read', input: { query: 'book' } },
      ],
    },
    { thought: 'One more', calls: [{ name: 'search', input: { query: 'warmth' } }] },
    { thought: 'Enough', text: JSON.stringify(answer) },
  ][turn] ?? { thought: 'Over', text: JSON.stringify(answer) }

interface Setup {
  readonly script?: (turn: number) => ScriptedTurn
  readonly agent?: Partial<AgentDefinition>
}

async function start(wire: Wire, given: Setup = {}): Promise<{ app: App; server: ModelServer }> {
  called.length = 0
  const server = await serveWire(wire, given.script ?? script)
  servers.push(server)
  const agent = defineAgent({
    id: 'researcher',
    model: wire.model,
    instructions: 'Find out.',
    input: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] },
    output: answerSchema,
    tools,
    ...given.agent,
  } as AgentDefinition)
  const app = await open({ providers: [wire.provider(server.url)], capabilities: [agent] })
  return { app, server }
}

async function run(app: App, isStreamed: boolean) {
  const run = await app.start(envelope, { draft, ...(isStreamed && { partials: true }) })
  const seen: NodePartial[] = []
  const reading = isStreamed
    ? (async () => {
        for await (const partial of run.partials()) seen.push(structuredClone(partial))
      })()
    : undefined
  const result = await run.result()
  await reading
  return { result, seen, events: await journal(app, run.id) }
}

describe.each(wires)('$name', (wire) => {
  it.each([true, false])('tools and a schema, streamed: %s', async (isStreamed) => {
    const { app, server } = await start(wire)
    const { result, seen, events } = await run(app, isStreamed)
    expect(result).toMatchObject({ status: 'completed', output: answer })
    expect(called.toSorted()).toEqual(['read book', 'search tea', 'search warmth'])
    expect(server.seen.length).toBeGreaterThanOrEqual(3)
    expect(server.seen.every((request) => wire.isStreamed(request) === isStreamed)).toBe(true)
    const ends = events.flatMap((event) => (event.type === 'turn_end' ? [event.payload] : []))
    expect(ends.map(({ calls }) => calls.length)).toEqual([2, 1, ...ends.slice(2).map(() => 0)])
    expect(ends.every(({ usage }) => usage.inputTokens === 100 && usage.outputTokens === 20)).toBe(true)
    // A provider that had to invent something would say so.
    expect(ends.flatMap(({ warnings = [] }) => warnings)).toEqual([])
    if (!isStreamed) return
    // A slow reader gets the newest only: what it got is what was written, in order.
    const turns = seen.flatMap(({ turn }) => (turn ? [turn] : []))
    expect(turns.length).toBeGreaterThan(0)
    for (const { turn, text } of turns) expect(script(turn - 1).text ?? '').toContain(text)
    expect(events.some(({ type }) => (type as string) === 'partial')).toBe(false)
  })

  it('sends settings in the words of the provider, and records what it ignores', async () => {
    const modelSettings = { temperature: 0.2, maxOutputTokens: 4_000, seed: 7, stop: ['END'] }
    const { app, server } = await start(wire, { agent: { modelSettings } })
    const { events } = await run(app, false)
    const [first] = server.seen
    const text = first?.text ?? ''
    const ignored = new Set(
      events.flatMap((event) =>
        event.type === 'turn_end' ? (event.payload.warnings ?? []).map(({ setting }) => setting) : [],
      ),
    )
    expect(text).toMatch(/4000/)
    for (const [setting, sent] of [
      ['temperature', /"temperature":0\.2/],
      ['seed', /"seed":7/],
      ['stop', /"END"/],
    ] as const)
      expect(sent.test(text), `${setting}: sent, or reported`).toBe(!ignored.has(setting))
    const starts = events.flatMap((event) => (event.type === 'turn_start' ? [event.payload.settings] : []))
    expect(starts.every((settings) => settings?.seed === 7)).toBe(true)
    expect(events.find(({ type }) => type === 'attempt_start')?.payload).toMatchObject({ modelSettings })
  })

  it('sends reasoning effort in the words of the provider', async () => {
    const { app, server } = await start(wire, { agent: { modelSettings: { reasoningEffort: 'low' } } })
    const { result } = await run(app, false)
    expect(result.status).toBe('completed')
    expect(server.seen[0]?.text).toMatch(
      /"reasoning":\{"effort":"low"|"reasoning_effort":"low"|"thinking":\{"type":"enabled","budget_tokens":2048|"thinkingBudget":2048/,
    )
  })

  it('forces a tool at first, and then leaves the choice to the model', async () => {
    const { app, server } = await start(wire, { agent: { toolChoice: { tool: 'search' } } })
    const { result } = await run(app, false)
    expect(result.status).toBe('completed')
    const forced = (text = '') =>
      /"tool_choice":\{[^}]*"search"|"allowedFunctionNames":\["search"\]|"tool_choice":\{"type":"function"/.test(
        text,
      )
    expect(server.seen.map(({ text }) => forced(text))).toEqual([
      true,
      ...server.seen.slice(1).map(() => false),
    ])
  })

  it('asks a turn again whose stream broke, calls nothing for it, and clears what it had shown', async () => {
    let asked = 0
    const { app } = await start(wire, {
      script: (turn) => ({ ...script(turn), ...(turn === 0 && ++asked === 1 && { cut: true as const }) }),
    })
    const { result, seen } = await run(app, true)
    expect(result).toMatchObject({ status: 'completed', output: answer })
    expect(called.toSorted()).toEqual(['read book', 'search tea', 'search warmth'])
    for (const { turn } of seen) if (turn) expect(script(turn.turn - 1).text ?? '').toContain(turn.text)
  })
})
