/** Approving a side effect permits the call that was shown: this capability with these inputs, and no other. */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import type { Draft, DraftNode } from '../../../src/domain/plan.ts'
import { api, envelope, local, type Served, serve } from '../../server/support.ts'

const S = { type: 'string' } as const
const obj = (properties: { readonly [name: string]: unknown }) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

interface Shown {
  readonly requestId: string
  readonly valueHash: string
  readonly kind: string
  readonly value: Json
  readonly capabilityId?: string
  readonly question: string
}

const read: DraftNode = { id: 'read', capabilityId: 'read' }
const write = (more: object = {}): DraftNode => ({
  id: 'write',
  capabilityId: 'write',
  inputs: { found: { node: 'read', pointer: '/found' } },
  ...more,
})
const send = (more: Partial<DraftNode> = {}): DraftNode => ({
  id: 'send',
  capabilityId: 'mail.send',
  inputs: { text: { node: 'write', pointer: '/text' } },
  ...more,
})
const answerOf = (properties: object) => ({ properties }) as unknown as NonNullable<Draft['output']>
const receipt = { receipt: { node: 'send', pointer: '/receipt' } }
const both = { ...receipt, text: { node: 'write', pointer: '/text' } }

const asksAtTheEnd = { planner: { directives: { askBeforeFinish: true } } }
const replans = {
  runtime: [{ id: 'again', trigger: { kind: 'manual' }, action: { type: 'replan' } }],
}

/**
 * A mail is sent after words of an agent that no person has checked. `write` has another text at each call where `drifts`;
 * the first call of `mail.send` hangs where `hangs`, and fails for good where `fails`.
 */
async function begin(
  draft: Draft,
  more: {
    readonly policies: object
    readonly next?: Draft
    readonly drifts?: boolean
    readonly hangs?: boolean
    readonly fails?: boolean
  },
) {
  const calls: { readonly by: string; readonly text: Json | undefined }[] = []
  let writes = 0
  const mail = (id: string) =>
    local(
      id,
      async (inputs) => {
        calls.push({ by: id, text: inputs['text'] })
        if (more.fails && id === 'mail.send') throw new Error('The server is gone')
        if (more.hangs && calls.length === 1) await new Promise(() => {})
        return { receipt: `${id} ${calls.length}` }
      },
      { inputContract: obj({ text: S }), outputContract: obj({ receipt: S }), sideEffect: true },
    )
  const served = await serve({
    capabilities: [
      local('read', () => ({}), { kind: 'mcp', run: undefined, outputContract: obj({ found: S }) } as never),
      local('write', () => ({ text: more.drifts ? `text ${++writes}` : 'text' }), {
        inputContract: obj({ found: S }),
        outputContract: obj({ text: S }),
      }),
      mail('mail.send'),
      mail('mail.backup'),
    ],
    dispatchers: [
      {
        kind: 'mcp',
        remote: true,
        dispatch: async () => ({
          outcome: 'ok',
          output: { value: { found: 'words of others' } },
          issues: [],
          usage: { calls: 1 },
        }),
      },
    ],
    planner: { name: 'own', draft: async () => more.next ?? draft },
  })
  const { output } = draft as { output?: { properties: object } }
  const { id: runId } = await served.app.start(
    envelope({
      constraints: { maxAsks: 20 },
      policies: more.policies,
      outputContract: {
        schema: obj(Object.fromEntries(Object.keys(output?.properties ?? {}).map((name) => [name, S]))),
      },
    }),
    { draft },
  )
  return { ...served, runId, calls }
}

/** Waits until the run has come to a stop, and returns the only ask that is open. */
async function openAsk({
  app,
  call,
  runId,
}: Pick<Served, 'app' | 'call'> & { runId: string }): Promise<Shown> {
  await app.result(runId)
  const { asks } = await (await call(`${api}/hitl?runId=${runId}&status=pending`)).json()
  const [ask, ...others] = asks as unknown as readonly Shown[]
  if (!ask || others.length > 0) throw new Error(`${asks.length} asks are open`)
  return ask
}

async function reply({ call }: Pick<Served, 'call'>, { requestId, valueHash }: Shown, more: object) {
  const answered = await call(`${api}/hitl/resolve`, { body: { requestId, valueHash, ...more } })
  expect(answered.status).toBe(200)
}

const again = { decision: 'reject', rejectAction: 'retry', note: 'Once more' }

describe('an approved side effect', () => {
  it('is asked about again where rework changes its inputs', async () => {
    const draft = { nodes: [read, write(), send()], output: answerOf(both) }
    const run = await begin(draft, { policies: asksAtTheEnd, drifts: true })
    const first = await openAsk(run)
    expect(first).toMatchObject({ kind: 'side_effect', value: { text: 'text 1' }, capabilityId: 'mail.send' })
    expect(first.question).toContain('"mail.send"')
    await reply(run, first, { decision: 'approve' })
    await reply(run, await openAsk(run), again)
    const second = await openAsk(run)
    expect(second).toMatchObject({ kind: 'side_effect', value: { text: 'text 2' } })
    expect(second.valueHash).not.toBe(first.valueHash)
    expect(run.calls).toEqual([{ by: 'mail.send', text: 'text 1' }])
    await reply(run, second, { decision: 'approve' })
    expect(await openAsk(run)).toMatchObject({ kind: 'final', value: { text: 'text 2' } })
    expect(run.calls.map(({ text }) => text)).toEqual(['text 1', 'text 2'])
  })

  it('is not asked about again where rework leaves its inputs as they were shown', async () => {
    const draft = { nodes: [read, write(), send()], output: answerOf(receipt) }
    const run = await begin(draft, { policies: asksAtTheEnd })
    await reply(run, await openAsk(run), { decision: 'approve' })
    await reply(run, await openAsk(run), again)
    expect(await openAsk(run)).toMatchObject({ kind: 'final' })
    expect(run.calls.map(({ text }) => text)).toEqual(['text', 'text'])
  })

  it.each([
    ['is asked about again where a new plan changes its inputs', 'other text', 'side_effect'],
    ['is not asked about again where a new plan makes the same call', 'text', undefined],
  ])('%s', async (_, text, kind) => {
    const plain = (value: string) => [read, send({ inputs: { text: { value } }, edges: undefined } as never)]
    const edges = [{ from: 'read', to: 'send' }]
    const output = answerOf(receipt)
    const run = await begin(
      { nodes: plain('text'), edges, output },
      { policies: replans, next: { nodes: plain(text), edges, output }, hangs: true },
    )
    await reply(run, await openAsk(run), { decision: 'approve' })
    await expect.poll(() => run.calls.length).toBe(1)
    await run.app.trigger(run.runId, { policyId: 'again', by: 'ann' })
    if (kind === undefined) {
      expect(await run.app.result(run.runId)).toMatchObject({ status: 'completed' })
      expect(run.calls.map((made) => made.text)).toEqual(['text', 'text'])
    } else {
      expect(await openAsk(run)).toMatchObject({ kind, value: { text } })
      expect(run.calls).toHaveLength(1)
    }
  })

  it('is asked about again where an alternate would make it', async () => {
    const draft = {
      nodes: [read, write(), send({ alternates: ['mail.backup'] })],
      output: answerOf(receipt),
    }
    const run = await begin(draft, { policies: {}, fails: true })
    const first = await openAsk(run)
    expect(first).toMatchObject({ kind: 'side_effect', capabilityId: 'mail.send' })
    await reply(run, first, { decision: 'approve' })
    const second = await openAsk(run)
    expect(second).toMatchObject({
      kind: 'side_effect',
      capabilityId: 'mail.backup',
      value: { text: 'text' },
    })
    expect(run.calls.map(({ by }) => by)).not.toContain('mail.backup')
    await reply(run, second, { decision: 'approve' })
    expect(await run.app.result(run.runId)).toMatchObject({ status: 'completed' })
    expect(run.calls.at(-1)).toEqual({ by: 'mail.backup', text: 'text' })
  })
})
