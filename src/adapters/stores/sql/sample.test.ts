import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openLibsql } from '../sqlite/drivers/libsql.ts'
import { sqliteBuilder } from '../sqlite/open-sqlite.ts'
import { openSqliteStore } from '../sqlite/sqlite.ts'
import { sqliteDialect } from './dialects/sqlite-dialect.ts'
import { sampleStatements } from './sample.ts'
import type { Tables } from './tables.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-sample-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('reads only its index, for every query', async () => {
  const path = join(folder, 'plan.db')
  await (await openSqliteStore({ path })).close()
  const connection = openLibsql(path)
  const statements = sampleStatements(sqliteBuilder<Tables>(connection), sqliteDialect)
  for (const query of [
    {},
    { from: 1, to: 9, slots: 4 },
    { from: 1, to: 9, nodeId: 'n' },
    { model: 'm' },
    { tenant: 't', pipeline: 'p' },
  ]) {
    const asked = [
      statements.groups(query),
      statements.runs(query),
      statements.runsBy('node_id', query),
      statements.runsBy('model_id', query),
    ]
    for (const { sql, parameters } of asked) {
      const steps = connection
        .execute(`explain query plan ${sql}`, parameters)
        .map((row) => String(row['detail']))
      const spans = steps.filter((step) => /^(SCAN|SEARCH) spans/.test(step))
      expect(spans, sql).toHaveLength(1)
      expect(spans[0], sql).toContain('USING COVERING INDEX spans_health')
    }
  }
  connection.close()
})
