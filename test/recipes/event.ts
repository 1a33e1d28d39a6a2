import { expect } from 'vitest'
import { startEvent } from '../seams/stores.ts'
import type { Recipe } from './scratch.ts'

/** An event that cancels a run because of its age. */
export const event: Recipe = {
  title: 'Add an event',
  apply({ insertAfter }) {
    insertAfter(
      'src/domain/event.ts',
      'export interface EventPayloads {\n',
      '  run_outdated: { readonly by: string }\n',
    )
    insertAfter(
      'src/domain/event/event-table.ts',
      'export const eventTable: Record<EventType, string> = {\n',
      "  run_outdated: 'the run is too old and is to be cancelled',\n",
    )
    insertAfter(
      'src/domain/run/fold.ts',
      '  cancel_requested(state, { payload }) {\n    state.cancel ??= payload\n  },\n',
      '  run_outdated(state, { payload }) {\n    state.cancel ??= payload\n  },\n',
    )
    insertAfter(
      'src/engine/replay/replay.ts',
      '  timer_fired: ({ payload }) => [payload.timerId],\n',
      '  run_outdated: ({ payload }) => [payload.by],\n',
    )
    insertAfter(
      'src/engine/replay/decide-recorded.ts',
      "    case 'cancel_requested':\n",
      "    case 'run_outdated':\n",
    )
  },
  entries: ['src/domain/run/fold.ts'],
  async check({ import: load }) {
    const { fold } = await load<typeof import('../../src/domain/run/fold.ts')>('src/domain/run/fold.ts')
    const first = { ...startEvent(), runId: 'r', seq: 1 }
    const outdated = { ...first, seq: 2, type: 'run_outdated', payload: { by: 'the clock' } }
    expect(fold([first, outdated] as never)?.cancel).toEqual({ by: 'the clock' })
  },
}
