/** Asks about failures over HTTP: a model behind a server of its own, reviewers who post, and a server that is restarted. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { compatible } from '../../../src/adapters/providers/compatible.ts'
import { defineCapability } from '../../../src/domain/capability/define-capability.ts'
import { leave } from '../../journeys/support.ts'
import { type OpenAiServer, openAiServer, type Seen } from '../../models/openai-server.ts'
import { api, envelope, frames, type Served, serve, text } from '../../server/support.ts'

const models: OpenAiServer[] = []
afterEach(async () => {
  for (const model of models.splice(0)) await model.close()
})

/** A model that says these texts, one a call, and the last one ever after. */
async function modelSaying(...texts: readonly string[]) {
  const model = await openAiServer((_seen, index) => ({
    text: texts[Math.min(index, texts.length - 1)] ?? '',
  }))
  models.push(model)
  return model
}

const promptOf = (seen: Seen | undefined) => JSON.stringify(seen?.body['messages'])
const tea = { '==': [{ var: 'text' }, 'Tea'] }
const draft = (more: object = {}) => ({
  nodes: [{ id: 'write', capabilityId: 'write', callBudget: 1, ...more }],
})
const asking = { runtime: [{ id: 'look', trigger: { kind: 'onValidationFail' }, action: { type: 'hitl' } }] }

const appWith = (model: OpenAiServer, more: object = {}) => ({
  providers: [compatible({ baseURL: model.url, apiKey: 'sk-test' })],
  capabilities: [
    defineCapability({
      capabilityId: 'write',
      kind: 'model',
      inputContract: { type: 'object' },
      outputContract: text,
      preferredModels: ['compatible/test-model'],
    }),
  ],
  ...more,
})

async function begin({ call }: Served, body: object): Promise<string> {
  const [first] = await frames(await call(`${api}/run.stream`, { body }))
  return first?.runId ?? ''
}

async function pending({ call }: Served, runId: string) {
  const [ask] = (await (await call(`${api}/hitl?runId=${runId}`)).json()).asks
  return ask as unknown as { [name: string]: unknown; requestId: string; valueHash: string }
}

async function resolve(served: Served, runId: string, more: object): Promise<number> {
  const { requestId, valueHash } = await pending(served, runId)
  const body = { requestId, valueHash, ...more }
  return (await served.call(`${api}/hitl/resolve`, { body })).status
}

describe.each([
  ['a policy', { policies: asking }, {}],
  ['the node', {}, { onFail: 'ask' }],
  ['the envelope', { policies: { onNodeFail: 'ask' } }, {}],
])('a failure that %s asks about', (_, more, node) => {
  it('shows the raw text and the conditions, and its rejection is a section of the next prompt', async () => {
    const said = 'Here it is: {"text": "Coffee"}'
    const model = await modelSaying(said, '{"text": "Tea"}')
    const served = await serve(appWith(model))
    const given = { envelope: envelope(more), draft: draft({ postConditions: [tea], ...node }) }
    const runId = await begin(served, given)
    expect(await pending(served, runId)).toMatchObject({
      kind: 'failure',
      nodeId: 'write',
      value: { text: 'Coffee' },
      raw: said,
      conditions: [tea],
      issues: [{ code: 'output/post-condition' }],
      decisions: ['edit', 'answer', 'reject'],
    })
    expect(promptOf(model.seen[0])).not.toContain('Coffee')
    const rejected = { decision: 'reject', rejectAction: 'retry', note: 'We sell leaves, not beans' }
    expect(await resolve(served, runId, rejected)).toBe(200)
    expect(await served.app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect(model.seen).toHaveLength(2)
    for (const part of [
      'Feedback, oldest first',
      'We sell leaves, not beans',
      'Coffee',
      'Post-condition does not hold',
    ])
      expect(promptOf(model.seen[1])).toContain(part)
  })

  it('is answered after a restart of the server', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'proviso-failure-asks-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const model = await modelSaying('{"text": "Coffee"}')
    const options = appWith(model, { store: `sqlite:${join(folder, 'runs.db')}`, leaseMs: 300 })
    const before = await serve(options)
    const runId = await begin(before, {
      envelope: envelope(more),
      draft: draft({ postConditions: [tea], ...node }),
    })
    await before.server.close()
    await leave(before.app)
    const after = await serve(options)
    expect(await pending(after, runId)).toMatchObject({ kind: 'failure', value: { text: 'Coffee' } })
    expect(await resolve(after, runId, { decision: 'edit', value: { text: 'Juice' } })).toBe(422)
    expect(await resolve(after, runId, { decision: 'edit', value: { text: 'Tea' } })).toBe(200)
    expect(await after.app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect(model.seen).toHaveLength(1)
  })
})
