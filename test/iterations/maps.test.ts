/** A map runs its body once for each item of a list, and its output is the list of the body's outputs. */
import { describe, expect, it } from 'vitest'
import { createApp, type JournalEvent, type Json } from '../../src/index.ts'
import { envelope, mapDraft, runDraft, working } from './support.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
const double = working('double', (value: number) => value * 2)
const endsOf = (events: readonly JournalEvent[]) => events.filter((event) => event.type === 'iteration_end')

describe('the output of a map', () => {
  it.each([0, 1, 3, 25, 300])('has one entry per item of a list of %i, in order', async (count) => {
    const { result, out, events } = await runDraft(mapDraft('double'), { items: numbers(count) }, [double])
    expect(result.issues).toEqual([])
    expect(out).toEqual(numbers(count).map((n) => n * 2))
    expect(endsOf(events)).toHaveLength(count)
    expect(events.filter(({ type }) => type === 'attempt_start')).toHaveLength(count)
  })

  it('keeps the order of the list, whichever item is done first', async () => {
    const waiting: (() => void)[] = []
    // The first to be called is the last to answer.
    const slow = working('slow', async (value: number) => {
      if (value < 3) await new Promise<void>((resolve) => waiting.push(resolve))
      else for (const go of waiting.reverse()) go()
      return value
    })
    const { out } = await runDraft(mapDraft('slow', { concurrency: 4 }), { items: numbers(4) }, [slow])
    expect(out).toEqual([0, 1, 2, 3])
  })

  it('is streamed item by item, under the ids node[index] and node[index].inner', async () => {
    const { events } = await runDraft(mapDraft('double'), { items: [5, 6] }, [double])
    expect(endsOf(events).map(({ nodeId, payload }) => [nodeId, payload])).toEqual([
      ['each[0]', { of: 'each', index: 0, status: 'completed', output: 10 }],
      ['each[1]', { of: 'each', index: 1, status: 'completed', output: 12 }],
    ])
    const started = events.filter(({ type }) => type === 'attempt_start').map(({ nodeId }) => nodeId)
    expect(started).toEqual(['each[0].work', 'each[1].work'])
  })

  it('gives the body its item, its index and the other inputs of the map', async () => {
    const seen: Json[] = []
    const note = working('note', (value: Json) => {
      seen.push(value)
      return value
    })
    const draft = {
      nodes: [
        { id: 'tone', capabilityId: 'note', inputs: { value: { value: 'dry' } } },
        {
          id: 'each',
          inputs: { items: { envelope: '/inputs/items' }, tone: { node: 'tone', pointer: '/value' } },
          map: {},
          body: {
            nodes: [
              { id: 'a', capabilityId: 'note', inputs: { value: { input: '/item/name' } } },
              { id: 'b', capabilityId: 'note', inputs: { value: { input: '/tone' } } },
              { id: 'c', capabilityId: 'note', inputs: { value: { input: '/index' } } },
            ],
            output: {
              properties: {
                name: { node: 'a', pointer: '/value' },
                tone: { node: 'b', pointer: '/value' },
                index: { node: 'c', pointer: '/value' },
                objective: { envelope: '/objective' },
              },
            },
          },
        },
      ],
      output: { properties: { out: { node: 'each' } } },
    }
    const { out } = await runDraft(draft, { items: [{ name: 'x' }, { name: 'y' }] }, [note])
    expect(out).toEqual([
      { name: 'x', tone: 'dry', index: 0, objective: 'Do it for each' },
      { name: 'y', tone: 'dry', index: 1, objective: 'Do it for each' },
    ])
    expect(seen).toHaveLength(7)
  })
})

describe('at most as many items as `concurrency` says', () => {
  it.each([1, 3])('%i are under way at one time', async (concurrency) => {
    let now = 0
    let most = 0
    const counted = working('counted', async (value: number) => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setImmediate(resolve))
      now--
      return value
    })
    const { out } = await runDraft(mapDraft('counted', { concurrency }), { items: numbers(12) }, [counted])
    expect(out).toEqual(numbers(12))
    expect(most).toBe(concurrency)
  })
})

describe('an item that fails', () => {
  const odd = working('odd', (value: number) => {
    if (value % 2 === 0) throw new Error(`${value} is even`)
    return value
  })

  it('fails the map, which names the item, and nothing more begins', async () => {
    const { result, events } = await runDraft(mapDraft('odd', { concurrency: 1 }), { items: [1, 2, 3] }, [
      odd,
    ])
    expect(result).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('2 is even') },
    })
    expect(result.error).toMatchObject({ details: { nodeId: 'each' } })
    expect(events.find(({ type }) => type === 'node_error')).toMatchObject({ nodeId: 'each[1].work' })
    expect(endsOf(events).map(({ payload }) => payload.status)).toEqual(['completed', 'failed'])
  })

  it('stops the items that are still under way', async () => {
    const hanging = working('hanging', (value: number) => {
      if (value === 1) throw new Error('no')
      return new Promise(() => {})
    })
    const { result, events } = await runDraft(mapDraft('hanging'), { items: [0, 1, 2] }, [hanging])
    expect(result.status).toBe('failed')
    const ends = endsOf(events).map(({ nodeId, payload }) => [nodeId, payload.status])
    expect(Object.fromEntries(ends)).toEqual({
      'each[0]': 'cancelled',
      'each[1]': 'failed',
      'each[2]': 'cancelled',
    })
  })

  it('is left out of the list under skip, and recorded', async () => {
    const { out, events } = await runDraft(mapDraft('odd', { onItemFail: 'skip' }), { items: [1, 2, 3] }, [
      odd,
    ])
    expect(out).toEqual([1, 3])
    const failed = endsOf(events).filter(({ payload }) => payload.status === 'failed')
    expect(failed).toMatchObject([{ nodeId: 'each[1]', payload: { error: { message: '2 is even' } } }])
  })

  it('has its error in its place under collect', async () => {
    const { out } = await runDraft(mapDraft('odd', { onItemFail: 'collect' }), { items: [1, 2, 3] }, [odd])
    expect(out).toMatchObject([
      { status: 'completed', value: 1 },
      { status: 'failed', error: { code: 'attempt/provider_error', message: '2 is even' } },
      { status: 'completed', value: 3 },
    ])
  })

  it('may be caught inside the body', async () => {
    const draft = mapDraft('odd')
    const [each] = draft.nodes
    const caught = {
      ...draft,
      nodes: [
        {
          ...each,
          body: {
            nodes: [
              ...(each?.body.nodes ?? []),
              { id: 'rescue', capabilityId: 'double', inputs: { value: { input: '/item' } } },
            ],
            edges: [{ from: 'work', to: 'rescue', when: 'fail' }],
            output: [
              { node: 'work', pointer: '/value' },
              { node: 'rescue', pointer: '/value' },
            ],
          },
        },
      ],
    }
    const { out } = await runDraft(caught, { items: [1, 2, 3] }, [odd, double])
    expect(out).toEqual([1, 4, 3])
  })

  it('is retried and handed to alternates like any other node', async () => {
    const tries = new Map<number, number>()
    const flaky = working('flaky', (value: number) => {
      tries.set(value, (tries.get(value) ?? 0) + 1)
      if (tries.get(value) === 1) throw new Error('again')
      return value
    })
    const draft = mapDraft('flaky')
    const body = draft.nodes[0]?.body
    const work = { ...body?.nodes[0], retry: { max: 1 } }
    const retried = { ...draft, nodes: [{ ...draft.nodes[0], body: { ...body, nodes: [work] } }] }
    const { out } = await runDraft(retried, { items: numbers(3) }, [flaky])
    expect(out).toEqual([0, 1, 2])
    expect([...tries.values()]).toEqual([2, 2, 2])
  })
})

describe('a limit of a map', () => {
  it('is checked when the list is there, and named', async () => {
    const { result } = await runDraft(mapDraft('double', { maxItems: 2 }), { items: numbers(3) }, [double])
    expect(result).toMatchObject({
      status: 'failed',
      error: { details: { code: 'map/limit', limitName: 'maxItems', limit: 2, actual: 3 } },
    })
  })
})

describe('maps in maps', () => {
  const nested = {
    nodes: [
      {
        id: 'rows',
        inputs: { items: { envelope: '/inputs/items' } },
        map: { concurrency: 2 },
        body: {
          nodes: [
            {
              id: 'cells',
              inputs: { items: { input: '/item' }, row: { input: '/index' } },
              map: {},
              body: {
                nodes: [{ id: 'work', capabilityId: 'double', inputs: { value: { input: '/item' } } }],
                output: {
                  properties: { row: { input: '/row' }, value: { node: 'work', pointer: '/value' } },
                },
              },
            },
          ],
          output: { node: 'cells' },
        },
      },
    ],
    output: { properties: { out: { node: 'rows' } } },
  }

  it('are lists of lists, and their nodes are node[i].inner[j].work', async () => {
    const { out, events } = await runDraft(nested, { items: [[1, 2], [], [3]] }, [double])
    expect(out).toEqual([
      [
        { row: 0, value: 2 },
        { row: 0, value: 4 },
      ],
      [],
      [{ row: 2, value: 6 }],
    ])
    const started = events.filter(({ type }) => type === 'attempt_start').map(({ nodeId }) => nodeId)
    expect(started.toSorted()).toEqual([
      'rows[0].cells[0].work',
      'rows[0].cells[1].work',
      'rows[2].cells[0].work',
    ])
  })

  it('fail as a whole when an inner item fails', async () => {
    const { result } = await runDraft(nested, { items: [[1], ['x']] }, [
      working('double', (value: unknown) => {
        if (typeof value !== 'number') throw new Error('no number')
        return value * 2
      }),
    ])
    expect(result).toMatchObject({
      status: 'failed',
      error: { message: expect.stringMatching(/rows\[1\].*cells\[0\].*no number/) },
    })
  })
})

describe('a person asked inside of items', () => {
  it('sees one ask per item, and each reply lets its own item continue', async () => {
    const human = working('ask', () => undefined, { kind: 'human', run: undefined })
    const app = await createApp({ capabilities: [human] })
    try {
      const draft = { ...mapDraft('ask'), limits: { maxAsks: 10 } }
      const { id: runId } = await app.start(envelope({ items: ['a', 'b', 'c'] }), { draft })
      const waiting = await app.result(runId)
      expect(waiting.status).toBe('waiting')
      const { asks, openAsks } = await app.state(runId)
      expect([...openAsks].map((id) => asks.get(id)?.nodeId)).toEqual([
        'each[0].work',
        'each[1].work',
        'each[2].work',
      ])
      for (const id of [...openAsks].reverse()) {
        const ask = asks.get(id)
        const value = { value: `${JSON.stringify(ask?.value)} seen` }
        await app.reply(runId, {
          requestId: id,
          decision: 'answer',
          value,
          valueHash: ask?.valueHash ?? '',
          by: 'ann',
        })
      }
      const done = await app.result(runId)
      expect(done).toMatchObject({
        status: 'completed',
        output: { out: ['{"value":"a"} seen', '{"value":"b"} seen', '{"value":"c"} seen'] },
      })
    } finally {
      await app.close()
    }
  })
})
