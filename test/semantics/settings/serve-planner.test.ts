/** The planner of `proviso serve` is a setting: flags over variables over `proviso.toml`, with a real model server behind it. */
import { afterEach, describe, expect, it } from 'vitest'
import { type OpenAiServer, openAiServer, type Reply } from '../../models/openai-server.ts'
import { refusedStart, serve, useServeProcesses } from './serve-process.ts'

useServeProcesses()

const models = new Set<OpenAiServer>()
afterEach(async () => {
  for (const model of models) await model.close()
  models.clear()
})

async function modelServer(...replies: Reply[]) {
  const server = await openAiServer(replies)
  models.add(server)
  return server
}

const schema = { type: 'object', properties: { summary: { type: 'string' } }, required: ['summary'] }
const envelope = { objective: 'Sum up the week', inputs: { notes: 'Rain' }, outputContract: { schema } }

/** A draft that names a capability which does not exist, and one that works. */
const wrong = { nodes: [{ id: 'sum', capabilityId: 'summariser' }] }
const right = {
  nodes: [
    {
      id: 'sum',
      capabilityId: 'proviso.answer',
      contracts: { input: { type: 'object' }, output: schema },
    },
  ],
}
const text = (value: unknown): Reply => ({ text: JSON.stringify(value) })
const answer = text({ summary: 'Rain all week' })

const promptOf = (server: OpenAiServer, call: number) => JSON.stringify(server.seen[call]?.body ?? {})
const planned = (frames: readonly { type: string; payload?: unknown }[]) =>
  frames.find(({ type }) => type === 'plan_generated')?.payload as
    | { metadata: { plannerRuntime: string; plannerModel?: string; plannerFallback?: string } }
    | undefined

describe('a planner model', () => {
  it('named by FLEX_PLANNER_MODEL drafts, and the diagnostics of a rejected draft are in its second prompt', async () => {
    const model = await modelServer(text(wrong), text(right), answer)
    const id = `compatible/${model.url}#planner`
    const server = await serve({
      env: { FLEX_PLANNER_MODEL: id, FLEX_OPENAI_DEFAULT_MODEL: id, FLEX_PLANNER_TIMEOUT_MS: '20000' },
    })
    await server.says(`Planner: auto (${id} first, then search; timeout 20000 ms`)
    const frames = await server.run({ envelope })
    expect(frames.map(({ type }) => type)).toContain('plan_rejected')
    expect(planned(frames)?.metadata).toMatchObject({ plannerRuntime: 'model', plannerModel: id })
    expect(frames.at(-1)).toMatchObject({
      type: 'complete',
      payload: { status: 'completed', output: { summary: 'Rain all week' } },
    })
    expect(promptOf(model, 0)).not.toContain('previousDiagnostics')
    expect(promptOf(model, 1)).toContain('previousDiagnostics')
    expect(promptOf(model, 1)).toContain('summariser')
    expect(model.seen).toHaveLength(3)
  })

  it('of proviso.toml is followed by the search when it does not answer', async () => {
    const down = await modelServer({ status: 500, body: { error: { message: 'down' } } })
    const model = await modelServer(answer)
    const id = `compatible/${down.url}#planner`
    const server = await serve({
      toml: `[planner]\nmodel = "${id}"\n`,
      env: { FLEX_OPENAI_DEFAULT_MODEL: `compatible/${model.url}#writer` },
    })
    const frames = await server.run({ envelope })
    expect(planned(frames)?.metadata).toMatchObject({
      plannerRuntime: 'search',
      plannerModel: id,
      plannerFallback: expect.stringContaining('did not answer'),
    })
    expect(frames.at(-1)).toMatchObject({ payload: { status: 'completed' } })
  })

  it('alone is not followed by the search: the run fails with the reason', async () => {
    const down = await modelServer({ status: 500, body: { error: { message: 'down' } } })
    const id = `compatible/${down.url}#planner`
    const server = await serve({ args: ['--planner', 'model', '--planner-model', id] })
    await server.says(`Planner: model (${id}, no search behind it`)
    const frames = await server.run({ envelope })
    expect(planned(frames)).toBeUndefined()
    expect(frames.at(-1)).toMatchObject({ payload: { status: 'failed' } })
    expect(JSON.stringify(frames)).toContain('did not answer')
  })

  it('is not asked when a flag says search', async () => {
    const model = await modelServer(answer)
    const id = `compatible/${model.url}#writer`
    const server = await serve({
      args: ['--planner', 'search'],
      env: { FLEX_PLANNER_MODEL: id, FLEX_OPENAI_DEFAULT_MODEL: id },
    })
    await server.says('Planner: search.')
    const frames = await server.run({ envelope })
    expect(planned(frames)?.metadata).toMatchObject({ plannerRuntime: 'search' })
    expect(model.seen).toHaveLength(1)
  })

  it('without a provider is replaced by the search under auto, which the start says, and refused alone', async () => {
    const server = await serve({ env: { FLEX_PLANNER_MODEL: 'anthropic/claude-haiku-4-5' } })
    await server.says(
      'Planner: search, because the model anthropic/claude-haiku-4-5 has no provider. Set ANTHROPIC_API_KEY',
    )
    const refused = await refusedStart({
      args: ['--planner', 'model', '--planner-model', 'anthropic/claude-haiku-4-5'],
    })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('Cannot plan with the model "anthropic/claude-haiku-4-5"')
    expect(refused.stderr).toContain('ANTHROPIC_API_KEY')
  })

  it('sees at most as many capabilities as the setting says', async () => {
    const model = await modelServer(text(right), answer)
    const id = `compatible/${model.url}#planner`
    const server = await serve({
      env: { FLEX_PLANNER_MODEL: id, FLEX_OPENAI_DEFAULT_MODEL: id, FLEX_PLANNER_CRCS_MAX_ROWS: '1' },
    })
    await server.says('at most 1 capabilities in its prompt')
  })
})
