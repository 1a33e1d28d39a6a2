import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { describe, expect, it } from 'vitest'
import { createTemplates } from './templates.ts'

interface Tables {
  readonly t: { run_id: string; seq: number; note: string | null }
}

// Only compiles: nothing is executed.
const db = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (of) => new PostgresIntrospector(of),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

const encode = (values: readonly unknown[]) => values
const lists = { text: { type: 'text[]', encode }, number: { type: 'float8[]', encode } }

describe('statements that take lists', () => {
  it('take keys of any number in one form', () => {
    const list = createTemplates('x', lists).list<{ seq: number }, string>((param, runIds) =>
      db.selectFrom('t').selectAll().where('seq', '=', param('seq')).where('run_id', 'in', runIds),
    )
    const one = list({ seq: 1 }, ['a'])
    expect(one.sql).toBe('select * from "t" where "seq" = $1 and "run_id" = any($2::text[])')
    expect(one.parameters).toEqual([1, ['a']])
    const many = list({ seq: 1 }, Array.from({ length: 500 }, String))
    expect([many.name, many.sql]).toEqual([one.name, one.sql])
  })

  it('take rows column by column', () => {
    const rows = createTemplates('x', lists).rows<Tables['t']>(
      ['run_id', 'seq', 'note'],
      [],
      (placeholders) =>
        db
          .insertInto('t')
          .values(placeholders as unknown as Tables['t'][])
          .onConflict((conflict) => conflict.column('run_id').doNothing()),
    )
    expect(rows([])).toEqual([])
    const [statement] = rows([
      { run_id: 'a', seq: 1, note: null },
      { run_id: 'b', seq: 2, note: 'n' },
    ])
    expect(statement?.sql).toBe(
      'insert into "t" ("run_id", "seq", "note") select * from unnest($1::text[], $2::float8[], $3::text[]) on conflict ("run_id") do nothing',
    )
    expect(statement?.parameters).toEqual([
      ['a', 'b'],
      [1, 2],
      [null, 'n'],
    ])
  })

  it('leave out a column that holds nothing, and keep few forms', () => {
    const rows = createTemplates('x', lists).rows<Record<string, unknown>>(
      Array.from({ length: 12 }, (_, index) => `c${index}`),
      [],
      (placeholders) => db.insertInto('t').values(placeholders as unknown as Tables['t'][]),
    )
    const names = new Set<string>()
    for (let form = 1; form < 4096; form++) {
      const row = Object.fromEntries(
        Array.from({ length: 12 }, (_, index) => [`c${index}`, form & (1 << index) ? 1 : null]),
      )
      const [statement] = rows([row])
      if (statement?.name !== undefined) names.add(statement.name)
      expect(statement?.parameters).toEqual(Object.values(row).flatMap((value) => (value === 1 ? [[1]] : [])))
    }
    expect(names.size).toBe(64)
  })

  it('change each of some rows in one statement', () => {
    const each = createTemplates('x', lists).each<Pick<Tables['t'], 'run_id' | 'seq'>>((param) =>
      db
        .updateTable('t')
        .set({ seq: param('seq') })
        .where('run_id', '=', param('run_id')),
    )
    const [statement, ...more] = each([
      { run_id: 'a', seq: 1 },
      { run_id: 'b', seq: 2 },
    ])
    expect(more).toEqual([])
    expect(statement?.sql).toBe(
      'update "t" set "seq" = given.v1 from unnest($1::float8[], $2::text[]) as given (v1, v2) where "run_id" = given.v2',
    )
    expect(statement?.parameters).toEqual([
      [1, 2],
      ['a', 'b'],
    ])
  })

  it('are refused if the query does not say where the list goes', () => {
    const list = createTemplates('x', lists).list<object, string>(() => db.selectFrom('t').selectAll())
    expect(() => list({}, ['a'])).toThrow('Cannot give lists')
  })
})
