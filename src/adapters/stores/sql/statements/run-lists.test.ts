import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLibsql } from '../../sqlite/drivers/libsql.ts'
import { sqliteBuilder } from '../../sqlite/open-sqlite.ts'
import { openSqliteStore } from '../../sqlite/sqlite.ts'
import { sqliteDialect } from '../dialects/sqlite-dialect.ts'
import type { Tables } from '../tables.ts'
import { createReadStatements } from './read-statements.ts'
import { createTemplates } from './templates.ts'

it('lists of a tenant read their index in its order, by time and by cost, and sort nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-lists-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'plan.db')
  await (await openSqliteStore({ path })).close()
  const connection = openLibsql(path)
  const lists = createReadStatements(
    sqliteBuilder<Tables>(connection),
    createTemplates('t', sqliteDialect.lists),
  )
  const explain = (query: Parameters<typeof lists.runs>[0]) => {
    const { sql, parameters } = lists.runs({ tenant: 'a', ...query })
    return connection
      .execute(`explain query plan ${sql}`, parameters)
      .map((row) => String(row['detail']))
      .join('\n')
  }
  for (const query of [
    { sort: 'cost' },
    { sort: 'cost', before: 'r' },
    { sort: 'cost', minCostUsd: 1 },
  ] as const)
    expect(explain(query)).toContain('flex_runs_cost')
  for (const query of [{}, { before: 'r' }]) expect(explain(query)).toContain('flex_runs_tenant')
  for (const query of [{ sort: 'cost' }, { sort: 'cost', before: 'r', maxCostUsd: 2 }, {}] as const)
    expect(explain(query)).not.toContain('TEMP B-TREE')
  connection.close()
})
