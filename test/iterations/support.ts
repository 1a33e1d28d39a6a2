/** Runs of drafts with maps and loops, on the library as a user has it. */
import {
  createApp,
  type DefinedCapability,
  defineCapability,
  type JournalEvent,
  type Json,
  type RunResult,
} from '../../src/index.ts'
import { verifyHistory } from '../seams/engine.ts'

/** A capability that takes and yields one value by a function, and notes what it was called with. */
export function working(
  id: string,
  run: (value: never, call: { readonly idempotencyKey: string }) => unknown,
  more: object = {},
): DefinedCapability {
  return defineCapability({
    capabilityId: id,
    kind: 'local',
    inputContract: { type: 'object', properties: { value: true }, required: ['value'] },
    outputContract: { type: 'object', properties: { value: true }, required: ['value'] },
    idempotent: true,
    run: async (inputs: { readonly value: never }, call: never) => ({ value: await run(inputs.value, call) }),
    ...more,
  })
}

/** `out` is what the map or loop `each` yields. */
export const envelope = (inputs: { readonly [name: string]: Json }, more: object = {}) => ({
  objective: 'Do it for each',
  inputs,
  outputContract: { schema: { type: 'object', required: ['out'], properties: { out: true } } },
  ...more,
})

/** A map over `/inputs/items` whose body calls one capability with the item. */
export const mapDraft = (capabilityId: string, map: object = {}) => ({
  nodes: [
    {
      id: 'each',
      inputs: { items: { envelope: '/inputs/items' } },
      map,
      body: {
        nodes: [{ id: 'work', capabilityId, inputs: { value: { input: '/item' } } }],
        output: { node: 'work', pointer: '/value' },
      },
    },
  ],
  output: { properties: { out: { node: 'each' } } },
})

/** A loop from `/inputs/first` whose body calls one capability with the value of the state. */
export const loopDraft = (capabilityId: string, loop: object = {}) => ({
  nodes: [
    {
      id: 'each',
      inputs: { state: { envelope: '/inputs/first' } },
      loop: { state: { type: 'object', required: ['value'], properties: { value: true } }, ...loop },
      body: {
        nodes: [{ id: 'work', capabilityId, inputs: { value: { input: '/state/value' } } }],
        output: { node: 'work' },
      },
    },
  ],
  output: { properties: { out: { node: 'each' } } },
})

export interface Ran {
  readonly result: RunResult
  readonly events: readonly JournalEvent[]
  readonly out: Json | undefined
}

/** Runs a draft to its end, and holds its journal to the rules of histories. */
export async function runDraft(
  draft: object,
  inputs: { readonly [name: string]: Json },
  capabilities: readonly DefinedCapability[],
): Promise<Ran> {
  const app = await createApp({ capabilities })
  try {
    const { id: runId } = await app.start(envelope(inputs), { draft: draft as never })
    const result = await app.result(runId)
    const events: JournalEvent[] = []
    for await (const event of app.watch(runId)) events.push(event)
    const issues = verifyHistory(events)
    if (issues.length > 0) throw new Error(issues.map(({ message }) => message).join('\n'))
    const replayed = await app.replay(runId)
    if (replayed.differences.length > 0) throw new Error(JSON.stringify(replayed.differences[0]))
    const output = result.output as { readonly out?: Json } | undefined
    return { result, events, out: output?.out }
  } finally {
    await app.close()
  }
}

/** What a process is to run that is killed. */
export interface Task {
  readonly shape: 'map' | 'loop'
  readonly store: string
  readonly effects: string
  readonly items: number
}

export const toRunId = (shape: Task['shape']) => `many-${shape}`
