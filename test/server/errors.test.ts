/** Promises about failed runs over HTTP: one shape of errors at every location, and no other (C50). */
import { describe, expect, it } from 'vitest'
import type { ErrorEnvelope } from '../../src/types.ts'
import { errorSchema } from '../seams/domain.ts'
import { compileSchema } from '../seams/schema.ts'
import { api, approved, frames, local, rao, type Served, says, serve, start, text } from './support.ts'

const ends = ['refused', 'timed_out', 'provider_error', 'truncated', 'cancelled', 'outcome_unknown']
const strict = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] } as const
const sized = { properties: { size: { type: 'number' } }, required: ['size'] } as const

const capabilities = [
  local('write', () => ({ text: 'Tea' })),
  local('slow', () => new Promise(() => {})),
  local('strict', () => ({ text: 'Tea' }), { inputContract: strict }),
  says('guess', ['{"size": 1.5}'], { outputContract: { type: 'object', anyOf: [sized] } }),
  says('nonsense', ['nothing like it']),
  says('unsure', [rao({ text: 'Tea' }, 0.1)]),
  ...ends.map((outcome) => says(outcome, [], { settings: { script: [{ outcome }] } })),
]

const one = (capabilityId: string, more: object = {}) => ({ nodes: [{ id: 'n', capabilityId, ...more }] })
const under = (...runtime: unknown[]) => ({ policies: { runtime } })
const shouting = {
  outputContract: { schema: { ...text, properties: { text: { type: 'string', pattern: '^[A-Z]+$' } } } },
}

/** A run that fails, by the code under which it does; what the answer holds besides. */
const failing: readonly [code: string, body: object, type: string, reason: string][] = [
  ['attempt/invalid', start({}, one('nonsense')), 'TASK_FAILURE', 'output_format_failure'],
  ['attempt/refused', start({}, one('refused')), 'TASK_FAILURE', 'execution_halted'],
  ['attempt/timed_out', start({}, one('timed_out')), 'TASK_FAILURE', 'execution_timeout'],
  ['attempt/provider_error', start({}, one('provider_error')), 'TASK_FAILURE', 'unexpected_error'],
  ['attempt/truncated', start({}, one('truncated')), 'RESOURCE_EXHAUSTION', 'output'],
  ['attempt/cancelled', start({}, one('cancelled')), 'TASK_FAILURE', 'execution_halted'],
  ['contract/unmet', start(shouting, one('write')), 'TASK_FAILURE', 'output_format_failure'],
  [
    'node/input-invalid',
    start(
      {},
      {
        nodes: [
          { id: 'guess', capabilityId: 'guess' },
          { id: 'n', capabilityId: 'strict', inputs: { size: { node: 'guess', pointer: '/size' } } },
        ],
      },
    ),
    'TASK_FAILURE',
    'input_validation_failure',
  ],
  ['plan/rejected', start({}, one('unheard-of')), 'PLAN_REJECTED', 'missing_producer'],
  [
    'policy/fail',
    start(under({ id: 'shut', trigger: { kind: 'onStart' }, action: { type: 'fail' } }), one('write')),
    'TASK_FAILURE',
    'execution_halted',
  ],
  [
    'rao/suppressed',
    start(
      {},
      one('unsure', {
        data: { contract: true, auto_approve_threshold: 0.9, require_human_review_threshold: 0.5 },
      }),
    ),
    'TASK_FAILURE',
    'execution_halted',
  ],
  [
    'run/deadline',
    start({}, { ...one('slow'), limits: { deadlineMs: 20 } }),
    'TASK_FAILURE',
    'execution_timeout',
  ],
]

/** Every `error`, and every member of `errors`, in every response; `failure` is no name of anything. */
function errorsIn(value: unknown, at = ''): { at: string; error: unknown }[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => {
    const here = `${at}/${key}`
    if (key === 'failure') return [{ at: here, error: member }]
    if (key === 'error') return [{ at: here, error: member }]
    if (key === 'errors' && Array.isArray(member))
      return member.map((error, index) => ({ at: `${here}/${index}`, error }))
    return errorsIn(member, here)
  })
}

const { validate } = compileSchema(errorSchema)

/** All that the server returns about a run; every error in it has the shape. */
async function everything({ call }: Served, runId: string) {
  const page = await (await call(`${api}/runs/${runId}`)).json()
  const stream = await frames(
    await call(`${api}/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } }),
  )
  const pages = await (await call(`${api}/runs/${runId}/events?limit=1000`)).json()
  const found = errorsIn({ page, stream, pages })
  for (const { at, error } of found) expect(validate(error), at).toEqual([])
  const last = stream.at(-1)
  return { page, stream, found, complete: last?.payload['error'] as ErrorEnvelope }
}

describe('a run that fails', () => {
  it.each(failing)('with %s says so in one shape everywhere', async (code, body, type, reason) => {
    const served = await serve({ capabilities })
    const done = await (await served.call(`${api}/runs?wait=30`, { body })).json()
    const said = { type, reason, message: expect.any(String), path: expect.any(String) }
    expect(done).toMatchObject({ status: 'failed', error: { ...said, details: { code } } })
    expect(Object.keys(done)).not.toContain('failure')
    const { page, found, complete, stream } = await everything(served, done.runId)
    expect(complete).toMatchObject({ ...said, details: { code } })
    expect(complete).toEqual((done as unknown as { error: unknown }).error)
    expect(page).toMatchObject({ output: { error: complete } })
    // The end on the page, in the stream and on the page of events.
    expect(found.length).toBeGreaterThanOrEqual(3)
    for (const { type: event, payload } of stream)
      if (event === 'node_error')
        expect(payload).toMatchObject({ error: { details: { outcome: payload['outcome'] } } })
  })

  it('a node that failed has its error on its row, also where the run went another way', async () => {
    const served = await serve({ capabilities })
    const draft = {
      nodes: [
        { id: 'n', capabilityId: 'refused' },
        { id: 'other', capabilityId: 'write' },
      ],
      edges: [{ from: 'n', to: 'other', when: 'fail' }],
      output: [{ node: 'n' }, { node: 'other' }],
    }
    const done = await (await served.call(`${api}/runs?wait=30`, { body: start({}, draft) })).json()
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    const { page, stream } = await everything(served, done.runId)
    const { nodes } = page as unknown as { nodes: { nodeId: string }[] }
    expect(nodes.find(({ nodeId }) => nodeId === 'n')).toMatchObject({
      status: 'error',
      error: { type: 'TASK_FAILURE', reason: 'execution_halted', details: { code: 'attempt/refused' } },
    })
    expect(stream.find(({ type }) => type === 'node_error')?.payload).toMatchObject({
      error: { reason: 'execution_halted', details: { outcome: 'refused', attempt: 1 } },
    })
  })

  it('says what was not as the contract wants, one by one and with its place', async () => {
    const served = await serve({ capabilities })
    const stream = await frames(await served.call(`${api}/run.stream`, { body: start(shouting) }))
    expect(stream.find(({ type }) => type === 'validation_error')?.payload).toMatchObject({
      scope: 'output',
      errors: [{ type: 'TASK_FAILURE', reason: 'output_format_failure', path: '/text' }],
    })
  })

  it('says why a draft was rejected, beside the findings', async () => {
    const served = await serve({ capabilities })
    const stream = await frames(
      await served.call(`${api}/run.stream`, { body: start({}, one('unheard-of')) }),
    )
    expect(stream.find(({ type }) => type === 'plan_rejected')?.payload).toMatchObject({
      diagnostics: { status: 'rejected' },
      error: { type: 'PLAN_REJECTED', reason: 'missing_producer', path: '/nodes/n' },
    })
  })

  it('by a limit or a person reports that the same way', async () => {
    const served = await serve({ capabilities })
    const [first] = await frames(await served.call(`${api}/run.stream`, { body: start(approved) }))
    const { runId = '' } = first ?? {}
    const [ask] = await served.app.store.asks({ runId })
    const { requestId = '', valueHash = '' } = ask ?? {}
    const no = { requestId, valueHash, decision: 'reject', rejectAction: 'fail', by: 'ann' } as const
    await served.app.reply(runId, no)
    await served.app.result(runId)
    expect((await everything(served, runId)).complete).toMatchObject({
      reason: 'execution_halted',
      details: { code: 'ask/rejected' },
    })
    const { runId: other } = await (await served.call(`${api}/runs`, { body: start({}, one('slow')) })).json()
    await served.call(`${api}/runs/${other}/cancel`, { body: { reason: 'Enough' } })
    await served.app.result(other)
    expect((await everything(served, other)).complete).toMatchObject({
      reason: 'execution_halted',
      message: expect.stringContaining('Enough'),
      details: { code: 'run/cancelled' },
    })
  })
})

it('the journal keeps failures as the engine said them', async () => {
  const served = await serve({ capabilities })
  const body = start({}, one('refused'))
  const { runId } = await (await served.call(`${api}/runs?wait=30`, { body })).json()
  const events = await served.app.store.read(runId, 0)
  expect(events.find(({ type }) => type === 'node_error')?.payload).toMatchObject({
    error: { code: 'attempt/refused', message: expect.any(String) },
  })
})
