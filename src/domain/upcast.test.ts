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
