/** What people see of a map: how far it has come, and not a line per item. */

import { expect, it } from 'vitest'
import type { DraftInput } from '../../src/domain/envelope/envelope-input.ts'
import { createApp } from '../../src/index.ts'
import { colors, createProgress, describeRun, loadRun, treeLines } from '../seams/cli.ts'
import { envelope, working } from './support.ts'

const noColors = Object.fromEntries(
  Object.keys(colors).map((name) => [name, String]),
) as unknown as typeof colors

it('shows 37/40 at the map, and of its items the ones that wait for a person', async () => {
  const work = working('work', (value: number) => value)
  const ask = working('ask', () => undefined, { kind: 'human', run: undefined })
  const draft: DraftInput = {
    nodes: [
      {
        id: 'each',
        inputs: { items: { envelope: '/inputs/items' } },
        map: {},
        body: {
          nodes: [
            {
              id: 'gate',
              kind: 'routing',
              inputs: { value: { input: '/item' } },
              routing: {
                routes: [{ condition: { '>=': [{ var: 'value' }, 37] }, to: 'ask' }],
                elseTo: 'work',
              },
            },
            { id: 'work', capabilityId: 'work', inputs: { value: { input: '/item' } } },
            { id: 'ask', capabilityId: 'ask', inputs: { value: { input: '/item' } } },
          ],
          output: [
            { node: 'work', pointer: '/value' },
            { node: 'ask', pointer: '/value' },
          ],
        },
      },
    ],
    output: { properties: { out: { node: 'each' } } },
    limits: { maxAsks: 5 },
  }
  const app = await createApp({ capabilities: [work, ask] })
  try {
    const items = Array.from({ length: 40 }, (_, index) => index)
    const { id: runId } = await app.start(envelope({ items }), { draft })
    expect(await app.result(runId)).toMatchObject({ status: 'waiting' })

    const page = describeRun(await loadRun(app.store, runId))
    const rows = page.split('\n').filter((line) => line.startsWith('each'))
    expect(rows.map((line) => line.split(/\s{2,}/).slice(0, 2))).toEqual([
      ['each', 'running 37/40'],
      ['each[37].ask', 'awaiting_hitl'],
      ['each[38].ask', 'awaiting_hitl'],
      ['each[39].ask', 'awaiting_hitl'],
    ])

    const progress = createProgress()
    for (const event of await app.store.read(runId, 0, 5_000)) progress.take(event)
    const lines = treeLines(progress.nodes(), { colors: noColors, now: 0 })
    expect(lines).toHaveLength(4)
    expect(lines[0]).toMatch(/^▸ each {2}37\/40/)
    expect(lines[1]).toContain('each[37].ask')

    // Each item has a row of its own, and so has each of its nodes.
    const nodes = await app.store.nodes(runId)
    expect(nodes.find(({ nodeId }) => nodeId === 'each[0]')).toMatchObject({
      kind: 'map',
      status: 'completed',
      output: 0,
    })
    expect(nodes.find(({ nodeId }) => nodeId === 'each[0].gate')).toMatchObject({ kind: 'routing' })
  } finally {
    await app.close()
  }
})
