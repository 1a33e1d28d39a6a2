import { expect, it } from 'vitest'
import { upcast, type WrittenEvent } from './upcast.ts'

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
  expect(upcast({ ...written, version: 3 }, { timer_fired: { 1: () => ({}) } })).toMatchObject({ version: 3 })
})
