import pc from 'picocolors'
import { describe, expect, it } from 'vitest'
import type { NodeView } from './progress.ts'
import { changeLine, treeLines } from './tree-lines.ts'

const colors = pc.createColors(false)
const now = 10_000
const node = (id: string, more: Partial<NodeView> = {}): NodeView => ({
  id,
  status: 'pending',
  attempts: 0,
  ...more,
})

describe('the tree', () => {
  it('shows every node under the one it waits for, with mark, attempt, time and what is asked', () => {
    const nodes = [
      node('plan', { status: 'completed', attempts: 1, startedAt: 0, endedAt: 1_250 }),
      node('write', { parent: 'plan', label: 'Write it', status: 'running', attempts: 2, startedAt: 9_700 }),
      node('check', { parent: 'write' }),
      node('send', { parent: 'plan', status: 'awaiting_hitl', detail: 'Go ahead?' }),
      node('other', { status: 'skipped' }),
      node('late', { status: 'cancelled', detail: 'interrupted' }),
      node('join', { parent: 'late', joins: ['other', 'late'] }),
    ]
    expect(treeLines(nodes, { colors, now })).toEqual([
      '✓ plan  1.3 s',
      '├─ ▸ Write it (write)  attempt 2, 300 ms',
      '│  └─ · check',
      '└─ ? send  Go ahead?',
      '– other',
      '⊘ late  interrupted',
      '└─ · join  after other, late',
    ])
  })

  it('cuts a name before what happens to the node, where a line is too long', () => {
    const label = 'Boil the water in the very large kettle of the kitchen'
    const detail = 'again at 10:00:00 UTC: invalid, must be object, but is null'
    const nodes = [
      node('boil', { label, status: 'waiting', attempts: 2, detail }),
      node('next', { parent: 'boil', label: 'Short', status: 'running' }),
    ]
    const [line, next] = treeLines(nodes, { colors, now, width: 60 })
    expect(line).toBe(`↻ Boil the water in the … (boil)  attempt 2, ${detail}`)
    expect(next).toBe('└─ ▸ Short (next)')
    expect(treeLines(nodes, { colors, now, width: 140 })[0]).toContain(`${label} (boil)`)
  })

  it('keeps the nodes that need attention when not all fit', () => {
    const many = Array.from({ length: 50 }, (_, index) => node(`n${index}`))
    many[40] = node('n40', { status: 'error', detail: 'It broke' })
    expect(treeLines(many, { colors, now, rows: 4 })).toEqual([
      '· n0',
      '· n1',
      '✗ n40  It broke',
      '… and 47 more',
    ])
  })

  it('draws long chains without running out of stack or room', () => {
    const chain = Array.from({ length: 20_000 }, (_, index) =>
      node(`n${index}`, index === 0 ? {} : { parent: `n${index - 1}` }),
    )
    const lines = treeLines(chain, { colors, now })
    expect(lines).toHaveLength(20_000)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(80)
  })

  it('leaves nothing in a text that a terminal would obey', () => {
    const [line = ''] = treeLines([node('n', { label: 'a\u001b[2Jb\nc\u202e', status: 'error' })], {
      colors,
      now,
    })
    expect(line).toBe('✗ a [2Jb c (n)')
  })
})

describe('one line per change', () => {
  it('says what is worth a line, and no time that is out of date at once', () => {
    expect(changeLine(node('n', { status: 'running', startedAt: 1 }), { colors, now })).toBe('▸ n running')
    expect(changeLine(node('n', { status: 'completed', startedAt: 1, endedAt: 31 }), { colors, now })).toBe(
      '✓ n completed  30 ms',
    )
    expect(changeLine(node('n', { status: 'judging' }), { colors, now })).toBeUndefined()
  })
})
