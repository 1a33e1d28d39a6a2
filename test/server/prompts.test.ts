/** Prompts over the API: the events of a run have what its models were sent, word for word. */
import { describe, expect, it } from 'vitest'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { defineCapability } from '../../src/index.ts'
import { messagesOf } from '../tools/chat-server.ts'
import {
  agent,
  answerSchema,
  done,
  draft,
  envelope,
  makeTools,
  serve as serveModel,
} from '../tools/support.ts'
import { api, frames, serve } from './support.ts'

async function runOver(isAgent: boolean) {
  const model = await serveModel((turn) =>
    isAgent && turn === 0 ? { calls: [{ name: 'search', input: { query: 'tea' } }] } : done,
  )
  const writer = defineCapability({
    id: 'researcher',
    kind: 'model',
    preferredModels: ['compatible/scripted'],
    input: { type: 'object' },
    output: answerSchema,
  })
  const capability = isAgent ? agent([makeTools().search]) : writer
  const served = await serve({
    capabilities: [capability],
    providers: [compatible({ baseURL: model.url })],
  })
  const events = await frames(await served.call(`${api}/run.stream`, { body: { envelope, draft } }))
  expect(events.at(-1)).toMatchObject({ type: 'complete', payload: { status: 'completed' } })
  const sent = model.seen.map((seen) => messagesOf(seen).map(({ role, content }) => [role, content]))
  return { events, sent }
}

describe('the events of a run', () => {
  it('have the prompts of a model as they were sent', async () => {
    const { events, sent } = await runOver(false)
    const end = events.find(({ type }) => type === 'attempt_end')
    const { prompts } = (end?.payload ?? {}) as { readonly prompts: readonly Record<string, string>[] }
    expect(sent).toEqual(
      prompts.map(({ system, prompt }) => [
        ['system', system],
        ['user', prompt],
      ]),
    )
  })

  it('have the instructions, the task and the tools of an agent as they were sent', async () => {
    const { events, sent } = await runOver(true)
    const [first] = events.filter(({ type }) => type === 'turn_start')
    const { system, user, tools } = (first?.payload ?? {}) as Record<string, unknown>
    expect(sent[0]).toEqual([
      ['system', system],
      ['user', user],
    ])
    expect(tools).toMatchObject([{ name: 'search', description: 'Searches' }])
  })
})
