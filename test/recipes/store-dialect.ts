import { expect } from 'vitest'
import type { Recipe } from './scratch.ts'

/** A database in the memory of the process, `volatile:`. */
export const storeDialect: Recipe = {
  title: 'Add a SQL dialect',
  apply({ create, insertAfter }) {
    create(
      'src/adapters/stores/sql/dialects/volatile-dialect.ts',
      `/** SQLite in memory: tables with row ids, else as in files. */
import type { SqlDialect } from './sql-dialect.ts'
import { sqliteDialect } from './sqlite-dialect.ts'

export const volatileDialect: SqlDialect = {
  ...sqliteDialect,
  name: 'volatile',
  columns: { ...sqliteDialect.columns, clusterByKey: (table) => table },
}
`,
    )
    create(
      'src/adapters/stores/volatile/volatile.ts',
      `/** A store in the memory of the process, on SQL. */
import { systemClock } from '../../../base/time/clock.ts'
import type { Store } from '../../../domain/ports/store.ts'
import { createListeners } from '../shared/listeners.ts'
import { volatileDialect as dialect } from '../sql/dialects/volatile-dialect.ts'
import { migrate } from '../sql/migrations/migrate.ts'
import { createSqlStore } from '../sql/sql-store.ts'
import { runSteps, type Steps } from '../sql/steps.ts'
import type { Tables } from '../sql/tables.ts'
import { openLibsql } from '../sqlite/drivers/libsql.ts'
import { sqliteBuilder } from '../sqlite/open-sqlite.ts'

export async function openVolatileStore({ ledger = false }: { readonly ledger?: boolean } = {}): Promise<Store> {
  const connection = openLibsql(':memory:')
  const run = <T>(steps: Steps<T>): T =>
    runSteps(steps, ({ sql, parameters, single }) => connection.execute(sql, parameters, single))
  connection.execute('begin immediate')
  await migrate(sqliteBuilder<unknown>(connection), { dialect, location: 'volatile:', readOnly: false, ledger })
  connection.execute('commit')
  return createSqlStore({
    dialect,
    builder: sqliteBuilder<Tables>(connection),
    listeners: createListeners(),
    group: { lanes: 1, most: 64, isOnesFault: () => false },
    now: () => systemClock.now(),
    ledger,
    run: async (steps) => run(steps(false)),
    async transaction(steps) {
      try {
        return run(steps(false))
      } catch (error) {
        if (connection.inTransaction) connection.execute('rollback')
        throw error
      }
    },
    // Nothing outlives the process.
    purge: async () => [],
    notifyOthers() {},
    close: async () => connection.close(),
  })
}
`,
    )
    insertAfter(
      'src/adapters/stores/open-store.ts',
      'const openers: { readonly [scheme: string]: Opener } = {\n',
      `  volatile: async (_, __, { ledger = false }) =>
    (await import('./volatile/volatile.ts')).openVolatileStore({ ledger }),
`,
    )
  },
  entries: ['src/adapters/stores/open-store.ts', 'src/index.ts'],
  async check({ import: load }) {
    const { openStore } = await load<typeof import('../../src/adapters/stores/open-store.ts')>(
      'src/adapters/stores/open-store.ts',
    )
    const { createApp, defineCapability } = await load<typeof import('../../src/index.ts')>('src/index.ts')
    const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
    const store = await openStore('volatile:')
    const write = defineCapability({
      capabilityId: 'write',
      inputContract: { type: 'object' },
      outputContract: schema,
      run: () => ({ text: 'Tea' }),
    })
    const app = await createApp({ store, capabilities: [write] })
    const { runId, status } = await app.run(
      { objective: 'Write', outputContract: { schema } },
      { draft: { nodes: [{ id: 'write', capabilityId: 'write' }] } },
    )
    expect(status).toBe('completed')
    expect((await store.read(runId, 0)).at(-1)?.type).toBe('complete')
    await app.close()
    await store.close()
  },
}
