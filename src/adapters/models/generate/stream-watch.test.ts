import { expect, it } from 'vitest'
import { watchStream } from './stream-watch.ts'

it('ends the watch at a chunk that is too long to be read on the main thread', () => {
  const partials: unknown[] = []
  const watch = watchStream({
    schema: { type: 'object', properties: { text: { type: 'string' } } },
    onPartial: ({ value }) => partials.push(value),
    linearPatterns: false,
    final: false,
  })
  watch.push('{"text": "tea')
  expect(partials).toHaveLength(1)
  watch.push('x'.repeat(20_000))
  watch.push('"}')
  expect(partials).toHaveLength(1)
})
