import { describe, expect, it } from 'vitest'
import { sqliteBuilder } from '../../sqlite/open-sqlite.ts'
import { createTemplates } from './templates.ts'

interface Tables {
  readonly t: { run_id: string; seq: number; note: string | null }
}

// Only compiles: nothing is executed.
const db = sqliteBuilder<Tables>({
  execute: () => [],
  inTransaction: false,
  close: () => {},
})

function insert() {
  return createTemplates('x').rows<Tables['t']>(['run_id', 'seq', 'note'], ['run_id'], (placeholders) =>
    db.insertInto('t').values(placeholders as unknown as Tables['t'][]),
  )
}

describe('rows', () => {
  it('give once what is the same in all of them, if it often is', () => {
    const [statement] = insert()([
      { run_id: 'r', seq: 7, note: 'a' },
      { run_id: 'r', seq: 7, note: 'b' },
    ])
    expect(statement?.sql).toBe('insert into "t" ("run_id", "seq", "note") values (?1, ?2, ?3), (?1, ?4, ?5)')
    expect(statement?.parameters).toEqual(['r', 7, 'a', 7, 'b'])
  })

  it('give each its own where one differs', () => {
    const [statement] = insert()([
      { run_id: 'r', seq: 1, note: 'a' },
      { run_id: 's', seq: 2, note: 'b' },
    ])
    expect(statement?.parameters).toEqual(['r', 1, 'a', 's', 2, 'b'])
  })

  it('leave out a column that holds nothing in all of them, and only then', () => {
    const rows = insert()
    const [empty] = rows([{ run_id: 'r', seq: 1, note: null }])
    expect(empty?.parameters).toEqual(['r', 1])
    const [mixed] = rows([
      { run_id: 'r', seq: 1, note: null },
      { run_id: 's', seq: 2, note: 'b' },
    ])
    expect(mixed?.parameters).toEqual(['r', 1, null, 's', 2, 'b'])
  })

  it('are prepared in few forms, whatever they hold', () => {
    const rows = createTemplates('x').rows<Record<string, unknown>>(
      Array.from({ length: 12 }, (_, index) => `c${index}`),
      [],
      (placeholders) => db.insertInto('t').values(placeholders as unknown as Tables['t'][]),
    )
    const names = new Set<string | undefined>()
    for (let form = 0; form < 4096; form++) {
      const row = Object.fromEntries(
        Array.from({ length: 12 }, (_, index) => [`c${index}`, form & (1 << index) ? 1 : null]),
      )
      const [statement] = rows([row])
      names.add(statement?.name)
      // All that is held is given, in a form of its own or in the one for everything.
      expect(statement?.parameters.filter((value) => value === 1)).toHaveLength(
        Object.values(row).filter((value) => value === 1).length,
      )
    }
    expect(names.size).toBeLessThanOrEqual(66)
  })
})
