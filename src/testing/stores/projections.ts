/** Tests of projections: queries that need not read the journal. */
import { sha256Hex } from '../../base/canonical.ts'
import { logEvent, newRun, planEvent, runningHead, sampleAsk, sampleEvent, samplePlan } from './sample.ts'
import type { Suite } from './test-api.ts'

const write = { nodeId: 'write' } as const
const usage = { calls: 1, inputTokens: 10, outputTokens: 5, costUsd: 0.001 }
const failure = { code: 'attempt/refused', message: 'No' } as const

/** Events of a run that plans, writes, asks, is answered and completes. */
export const lifeEvents = [
  planEvent(),
  sampleEvent('node_start', { capabilityId: 'cap.write', label: 'WRITE' }, { ...write, at: 1_010 }),
  sampleEvent(
    'attempt_start',
    { attempt: 1, capabilityId: 'cap.write', idempotencyKey: 'k', idempotent: true, inputs: {} },
    { ...write, at: 1_020 },
  ),
  sampleEvent(
    'attempt_end',
    { attempt: 1, outcome: 'ok', output: { value: { text: 'Tea' } }, issues: [], usage, model: 'm-1' },
    { ...write, at: 1_050 },
  ),
  sampleEvent(
    'node_complete',
    { output: { value: { text: 'Tea', more: 1 } }, attempt: 1 },
    { ...write, at: 1_060 },
  ),
  sampleEvent(
    'hitl_request',
    { ...sampleAsk('q-1', 'check'), audit: { prev: 'p0', subjectHash: 'v-1', hash: 'p1' } },
    { nodeId: 'check', at: 1_070 },
  ),
  sampleEvent(
    'hitl_resolved',
    {
      requestId: 'q-1',
      decision: 'reject',
      valueHash: 'v-1',
      by: 'ann',
      note: 'no',
      audit: { prev: 'p1', subjectHash: 'v-1', hash: 'p2' },
    },
    { nodeId: 'check', at: 1_080 },
  ),
  sampleEvent(
    'node_error',
    { attempt: 0, outcome: 'rejected', error: failure },
    { nodeId: 'check', at: 1_090 },
  ),
  sampleEvent('complete', { status: 'failed', error: failure, usage }, { at: 1_100 }),
]

export function projectionSuite({ test, expect }: Suite): void {
  for (const [how, size] of [
    ['one by one', 1],
    ['three at a time', 3],
    ['all at once', lifeEvents.length],
  ] as const) {
    test(`projects a whole run whose events are appended ${how}`, async ({ store }) => {
      await store.create(newRun('r'))
      for (let from = 0; from < lifeEvents.length; from += size) {
        const events = lifeEvents.slice(from, from + size)
        await store.append({ runId: 'r', expectedSeq: 1 + from, events, head: runningHead })
      }

      expect(await store.nodes('r')).toEqual([
        {
          runId: 'r',
          nodeId: 'write',
          planVersion: 1,
          capabilityId: 'cap.write',
          kind: 'execution',
          label: 'WRITE',
          status: 'completed',
          attempts: 1,
          contextHash: sha256Hex('{}'),
          validation: 'valid',
          output: { text: 'Tea', more: 1 },
          startedAt: 1_010,
          endedAt: 1_060,
        },
        {
          runId: 'r',
          nodeId: 'check',
          planVersion: 1,
          capabilityId: 'cap.check',
          kind: 'execution',
          label: 'CHECK',
          status: 'error',
          attempts: 0,
          error: failure,
          endedAt: 1_090,
        },
      ])

      const plan = samplePlan()
      expect(await store.snapshots('r')).toEqual([
        {
          runId: 'r',
          planVersion: 1,
          seq: 2,
          at: 1_000,
          pendingNodeIds: ['write', 'check'],
          plan,
          facets: {},
        },
        {
          runId: 'r',
          planVersion: 1,
          seq: 7,
          at: 1_070,
          pendingNodeIds: ['check'],
          plan,
          facets: { copy: 'Tea' },
        },
      ])

      const ask = {
        ...sampleAsk('q-1', 'check'),
        runId: 'r',
        tenant: 't-1',
        status: 'denied',
        createdAt: 1_070,
        resolvedAt: 1_080,
        decision: 'reject',
        by: 'ann',
        note: 'no',
      }
      expect(await store.ask('q-1')).toEqual(ask)
      expect(await store.asks({ runId: 'r' })).toEqual([ask])
      expect(await store.audit('r')).toEqual([
        {
          runId: 'r',
          requestId: 'q-1',
          seq: 7,
          at: 1_070,
          by: 'system',
          what: 'asked',
          subjectHash: 'v-1',
          prev: 'p0',
          hash: 'p1',
        },
        {
          runId: 'r',
          requestId: 'q-1',
          seq: 8,
          at: 1_080,
          by: 'ann',
          what: 'reject',
          subjectHash: 'v-1',
          prev: 'p1',
          hash: 'p2',
        },
      ])

      const about = { runId: 'r', tenant: 't-1', requestId: 'q-1', nodeId: 'check' }
      expect(await store.messages('r')).toEqual([
        {
          ...about,
          messageId: 'r:message:7',
          seq: 7,
          at: 1_070,
          role: 'agent',
          body: { kind: 'approval', question: 'Is this good?', value: { text: 'Tea' } },
        },
        {
          ...about,
          messageId: 'r:message:8',
          seq: 8,
          at: 1_080,
          role: 'operator',
          body: { decision: 'reject', by: 'ann', note: 'no' },
        },
      ])

      expect(await store.output('r')).toEqual({
        runId: 'r',
        planVersion: 1,
        status: 'failed',
        error: failure,
        facets: { copy: 'Tea' },
        schemaHash: 'h-1',
        at: 1_100,
      })

      const createdAt = (await store.head('r'))?.createdAt
      const attempt = { nodeId: 'write', planVersion: 1, capabilityId: 'cap.write', attempt: 1 }
      expect(await store.spans('r')).toEqual([
        {
          runId: 'r',
          spanId: '1:write:1',
          parentSpanId: '1:write',
          name: 'attempt',
          startedAt: 1_020,
          endedAt: 1_050,
          status: 'ok',
          attributes: { ...attempt, outcome: 'ok', usage, model: 'm-1', 'aros.model_id': 'm-1' },
        },
        {
          runId: 'r',
          spanId: '1:write',
          parentSpanId: 'r',
          name: 'node',
          startedAt: 1_010,
          endedAt: 1_060,
          status: 'completed',
          attributes: attempt,
        },
        {
          runId: 'r',
          spanId: '1:check',
          parentSpanId: 'r',
          name: 'node',
          startedAt: 1_090,
          endedAt: 1_090,
          status: 'error',
          attributes: {
            nodeId: 'check',
            planVersion: 1,
            capabilityId: 'cap.check',
            attempt: 0,
            outcome: 'rejected',
            code: failure.code,
          },
        },
        {
          runId: 'r',
          spanId: 'r',
          name: 'run',
          startedAt: createdAt,
          endedAt: 1_100,
          status: 'failed',
          attributes: { planVersion: 1, usage },
        },
      ])
    })
  }

  test('keeps the rows of each plan version, and carries finished nodes into the next', async ({ store }) => {
    await store.create(newRun('r', { events: lifeEvents.slice(0, 5) }))
    const events = [
      planEvent(samplePlan(2, ['write', 'other'])),
      sampleEvent('plan_updated', {
        previousVersion: 1,
        version: 2,
        nodes: [
          { id: 'write', status: 'completed' },
          { id: 'other', status: 'ready' },
        ],
        trigger: {},
      }),
    ]
    await store.append({ runId: 'r', expectedSeq: 5, events, head: { ...runningHead, planVersion: 2 } })
    const rows = (await store.nodes('r')).map(({ nodeId, planVersion, status }) => [
      nodeId,
      planVersion,
      status,
    ])
    expect(rows).toEqual([
      ['write', 1, 'completed'],
      ['check', 1, 'pending'],
      ['write', 2, 'completed'],
      ['other', 2, 'ready'],
    ])
    const last = (await store.snapshots('r')).at(-1)
    expect(last?.planVersion).toBe(2)
    expect(last?.pendingNodeIds).toEqual(['other'])
    expect(last?.facets).toEqual({ copy: 'Tea' })
  })

  test('lists open asks of a tenant, oldest first', async ({ store }) => {
    for (const [index, tenant] of ['t-1', 't-2', 't-1'].entries()) {
      const ask = { ...sampleAsk(`q-${index}`), audit: { prev: '', subjectHash: 'v', hash: `${index}` } }
      const events = [planEvent(), sampleEvent('hitl_request', ask, { at: 5_000 - index })]
      await store.create(newRun(`r-${index}`, { tenant, events }))
    }
    const ids = async (query: Parameters<typeof store.asks>[0]) =>
      (await store.asks(query)).map((ask) => ask.requestId)
    expect(await ids({})).toEqual(['q-2', 'q-1', 'q-0'])
    expect(await ids({ tenant: 't-1' })).toEqual(['q-2', 'q-0'])
    expect(await ids({ tenant: 't-1', limit: 1 })).toEqual(['q-2'])
    expect(await ids({ status: 'resolved' })).toEqual([])
    expect(await ids({ runId: 'r-1', status: 'pending' })).toEqual(['q-1'])
    expect(await store.ask('none')).toBe(undefined)
  })

  test('lists asks page by page, also after an ask that was answered meanwhile', async ({ store }) => {
    for (let index = 0; index < 6; index++) {
      const ask = { ...sampleAsk(`q-${index}`), audit: { prev: '', subjectHash: 'v', hash: `${index}` } }
      // Two asks at each time: the id orders them.
      const asked = sampleEvent('hitl_request', ask, { at: 5_000 - Math.floor(index / 2) })
      const tenant = index === 3 ? 't-2' : 't-1'
      await store.create(newRun(`r-${index}`, { tenant, events: [planEvent(), asked] }))
    }
    const ids = async (query: Parameters<typeof store.asks>[0]) =>
      (await store.asks(query)).map((ask) => ask.requestId)
    const all = ['q-4', 'q-5', 'q-2', 'q-3', 'q-0', 'q-1']
    expect(await ids({})).toEqual(all)
    const paged: string[] = []
    for (let page = await ids({ limit: 2 }); page.length > 0; ) {
      paged.push(...page)
      page = await ids({ limit: 2, after: page.at(-1) ?? '' })
    }
    expect(paged).toEqual(all)
    expect(await ids({ tenant: 't-1', after: 'q-2' })).toEqual(['q-0', 'q-1'])
    expect(await ids({ runId: 'r-0', after: 'q-2' })).toEqual(['q-0'])
    expect(await ids({ runId: 'r-4', after: 'q-2' })).toEqual([])
    const answer = { requestId: 'q-2', decision: 'approve', valueHash: 'v', by: 'ann' } as const
    const audit = { prev: '', subjectHash: 'v', hash: 'x' }
    const events = [sampleEvent('hitl_resolved', { ...answer, audit })]
    const head = { status: 'running', planVersion: 1 } as const
    await store.append({ runId: 'r-2', expectedSeq: 2, events, head })
    expect(await ids({ status: 'pending', after: 'q-2' })).toEqual(['q-3', 'q-0', 'q-1'])
    expect(await ids({ status: 'resolved', after: 'q-4' })).toEqual(['q-2'])
    expect(await ids({ after: 'none' })).toEqual([])
  })

  test('projects nothing from log events', async ({ store }) => {
    await store.create(newRun('r', { events: [logEvent(1)] }))
    expect(await store.nodes('r')).toEqual([])
    expect(await store.snapshots('r')).toEqual([])
    expect(await store.output('r')).toBe(undefined)
    expect(await store.spans('r')).toEqual([])
    expect(await store.audit('r')).toEqual([])
    expect(await store.messages('r')).toEqual([])
  })
}
