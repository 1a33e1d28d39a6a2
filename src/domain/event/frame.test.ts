import { expect, it } from 'vitest'
import type { JournalEvent } from '../event.ts'
import type { Output } from '../output.ts'
import { createRedactor } from '../redaction/redact.ts'
import { toFrame } from './frame.ts'

const common = { runId: 'r', seq: 7, at: Date.UTC(2026, 0, 2), version: 1, planVersion: 1 }

it('carries what a reader of streams needs, and nothing that is absent', () => {
  const facetProvenance = { input: [], output: [{ facet: 'tone', pointer: '/tone' }] }
  const event: JournalEvent = { ...common, type: 'node_start', nodeId: 'n', payload: { facetProvenance } }
  expect(toFrame(event, 'c', createRedactor())).toEqual({
    type: 'node_start',
    id: 7,
    timestamp: '2026-01-02T00:00:00.000Z',
    payload: { facetProvenance },
    runId: 'r',
    nodeId: 'n',
    planVersion: 1,
    correlationId: 'c',
    facetProvenance,
  })
})

it('redacts payloads, but gives secrets that the answer names', () => {
  const log: JournalEvent = {
    ...common,
    type: 'log',
    payload: { event: 'x', payload: { password: 'p', n: 1 } },
  }
  expect(toFrame(log, 'c', createRedactor()).payload).toEqual({
    event: 'x',
    payload: { password: '[redacted]', n: 1 },
  })
  const complete: JournalEvent = {
    ...common,
    type: 'complete',
    payload: {
      status: 'completed',
      output: { password: 'chosen', text: 'see http://u:p@h' },
      usage: { calls: 1 },
    },
  }
  expect(toFrame(complete, 'c', createRedactor()).payload).toMatchObject({
    output: { password: 'chosen', text: 'see http://u:[redacted]@h' },
  })
})

it('withholds an output that reports a confidence, because it may be suppressed', () => {
  const result = { attempt: 1, outcome: 'ok', issues: [], usage: { calls: 1 } } as const
  for (const type of ['attempt_end', 'attempt_settled'] as const) {
    const frameWith = (output: Output) =>
      toFrame({ ...common, type, nodeId: 'n', payload: { ...result, output } }, 'c', createRedactor())
    expect(frameWith({ value: 'Tea', raw: '"Tea"', confidence: 0, reasoning: 'A guess' }).payload).toEqual({
      ...result,
      output: { confidence: 0, reasoning: 'A guess', withheld: true },
    })
    expect(frameWith({ value: 'Tea' }).payload).toEqual({ ...result, output: { value: 'Tea' } })
  }
})
