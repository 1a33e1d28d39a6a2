/** A routing node calls nothing: settings of calls are refused on it by name. */
import { expect, it } from 'vitest'
import { parseDraft } from '../../../src/domain/draft/parse-draft.ts'

it.each(['retry', 'timeoutMs', 'alternates', 'onFail', 'callBudget'])(
  'a routing node refuses %s by name, for it calls nothing',
  (key) => {
    const values = { retry: { max: 1 }, timeoutMs: 5, alternates: ['b'], onFail: 'ask', callBudget: 2 }
    const gate = { id: 'g', routing: { routes: [], elseTo: 'a' }, [key]: values[key as 'retry'] }
    const parsed = parseDraft({ nodes: [gate, { id: 'a', capabilityId: 'a' }] })
    expect(parsed.ok).toBe(false)
    if (!parsed.ok) expect(parsed.issues).toMatchObject([{ at: { pointer: `/nodes/0/${key}` } }])
  },
)
