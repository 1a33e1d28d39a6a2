import { expect, it } from 'vitest'
import { upcast, type WrittenEvent } from './numbered.ts'

const written: WrittenEvent = {
  type: 'timer_fired',
  version: 1,
  at: 1,
  planVersion: 1,
  runId: 'r',
  seq: 1,
  payload: { id: 't' },
}

it('reads an event of an old version as one of today, step by step', () => {
  const table = {
    timer_fired: {
      1: (payload: unknown) => ({ timer: (payload as { id: string }).id }),
      2: (payload: unknown) => ({ timerId: (payload as { timer: string }).timer }),
    },
  }
  expect(upcast(written, table)).toEqual({ ...written, version: 3, payload: { timerId: 't' } })
})

it('leaves events of today alone', () => {
  expect(upcast(written)).toEqual(written)
  expect(upcast({ ...written, version: 2 }, { timer_fired: { 1: () => ({}) } })).toMatchObject({
    payload: written.payload,
    version: 2,
  })
})

it('refuses what a newer version has written, instead of taking it for something else', () => {
  const newer = expect.objectContaining({
    code: 'store/newer',
    message: expect.stringContaining('event 1 of'),
  })
  expect(() => upcast({ ...written, version: 2 })).toThrow(newer)
  expect(() => upcast({ ...written, version: 3 }, { timer_fired: { 1: () => ({}) } })).toThrow(newer)
  expect(() => upcast({ ...written, type: 'moon_landed' as never })).toThrow(newer)
})

it('reads the plans of older journals with every edge as a control edge', () => {
  const node = { id: 'a' }
  const edge = { from: 'a', to: 'b', when: 'pass' }
  const plan = { version: 1, nodes: [node], edges: [edge] }
  const event = { ...written, type: 'plan_generated' as const, payload: { planVersion: 1, plan } }
  expect(upcast(event)).toMatchObject({
    version: 2,
    payload: {
      planVersion: 1,
      plan: { version: 1, nodes: [{ ...node, needs: [] }], edges: [{ ...edge, kind: 'control' }] },
    },
  })
  const resumed = { ...event, payload: { planVersion: 1 } }
  expect(upcast(resumed)).toEqual({ ...resumed, version: 2 })
})
