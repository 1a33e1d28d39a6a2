/**
 * Counts what is sealed with keys that are not known: the references name the id of their key. The database selects by text,
 * after it has removed the references of known keys; only what is left is parsed.
 */
import { type Kysely, sql } from 'kysely'
import type { UnknownKey } from '../../../../domain/ports/store.ts'
import { toChunks } from '../rows/chunk.ts'
import type { SqlDriver } from '../sql-driver.ts'
import { ask, askAll, type Row, type Statement } from '../steps.ts'
import type { Tables } from '../tables.ts'

/** Runs that are searched in one query: no index finds parts of texts. */
const pageSize = 100
/** Texts of one run, or rows, that are parsed: together they may have many megabytes. */
const mostTexts = 20

interface UnknownKeysQuery {
  /** Ids of the keys that open references. */
  readonly knownKeys: readonly string[]
  readonly tenant?: string
}

/** Stored responses belong to no tenant: they are counted for all tenants only. */
export async function findUnknownKeys(
  driver: SqlDriver,
  { knownKeys, tenant }: UnknownKeysQuery,
): Promise<readonly UnknownKey[]> {
  const statements = createStatements(driver.builder, knownKeys)
  const known = new Set(knownKeys)
  const counts = new Map<string, { runs: number; rows: number }>()
  const add = (texts: readonly unknown[], what: 'runs' | 'rows') => {
    for (const keyId of parseKeyIds(texts, known)) {
      const count = counts.get(keyId) ?? { runs: 0, rows: 0 }
      counts.set(keyId, { ...count, [what]: count[what] + 1 })
    }
  }
  for (let after = ''; ; ) {
    const page = await driver.run(() => ask<{ run_id: string }>(statements.pageOfRuns(after, tenant)))
    const ids = page.map(({ run_id }) => run_id)
    const hits = await driver.run(() =>
      askAll<{ run_id: string }>(toChunks(ids).map((some) => statements.runsWith(some))),
    )
    for (const runId of new Set(hits.map(({ run_id }) => run_id)))
      add(toTexts(await driver.run(() => askAll<Row>(statements.textsOf(runId)))), 'runs')
    if (page.length < pageSize) break
    after = ids.at(-1) ?? ''
  }
  const rows = [statements.documentsWith, ...(tenant === undefined ? [statements.answersWith] : [])]
  for (const page of rows)
    for (let after = ''; ; ) {
      const found = await driver.run(() =>
        ask<{ id: string; body: string }>(page({ after, tenant, now: driver.now() || Date.now() })),
      )
      for (const { body } of found) add([body], 'rows')
      if (found.length < mostTexts) break
      after = found.at(-1)?.id ?? ''
    }
  return [...counts]
    .map(([keyId, count]) => ({ keyId, ...count }))
    .sort((a, b) => (a.keyId < b.keyId ? -1 : 1))
}

const toTexts = (rows: readonly Row[]) => rows.flatMap((row) => Object.values(row))

/** Whole references only: nonce, tag and text have at least 28 bytes. Anything shorter is a text that looks like one. */
function parseKeyIds(texts: readonly unknown[], known: ReadonlySet<string>): ReadonlySet<string> {
  const ids = new Set<string>()
  for (const text of texts)
    for (const [, id = ''] of String(text).matchAll(/\[sealed:v1\.([\da-f]{8})\.[\w-]{38,}\]/g))
      if (!known.has(id)) ids.add(id)
  return ids
}

interface RowsQuery {
  readonly after: string
  readonly tenant: string | undefined
  readonly now: number
}

function createStatements(db: Kysely<Tables>, knownKeys: readonly string[]) {
  const begin = '%[sealed:v1.%'
  const has = (column: string) => {
    const rest = knownKeys.reduce(
      (text, id) => sql<string>`replace(${text}, ${`[sealed:v1.${id}.`}, '')`,
      sql<string>`${sql.ref(column)}`,
    )
    return sql<boolean>`(${sql.ref(column)} like ${begin} and ${rest} like ${begin})`
  }
  const eventHas = sql<boolean>`(${has('flex_events.payload')} or ${has('flex_events.message')})`
  const events = (runIds: readonly string[]) =>
    db.selectFrom('flex_events').where('flex_events.run_id', 'in', runIds).where(eventHas)
  const values = (runIds: readonly string[]) =>
    db
      .selectFrom('flex_value_uses')
      .innerJoin('flex_values', 'flex_values.hash', 'flex_value_uses.hash')
      .where('flex_value_uses.run_id', 'in', runIds)
      .where(has('flex_values.body'))
  return {
    pageOfRuns(after: string, tenant: string | undefined): Statement {
      const query = db.selectFrom('flex_runs').select('run_id').where('run_id', '>', after)
      const filtered = tenant === undefined ? query : query.where('tenant', '=', tenant)
      return filtered.orderBy('run_id').limit(pageSize).compile()
    },
    runsWith: (runIds: readonly string[]): Statement =>
      events(runIds)
        .select('flex_events.run_id')
        .union(values(runIds).select('flex_value_uses.run_id'))
        .compile(),
    textsOf: (runId: string): Statement[] => [
      events([runId])
        .select(['flex_events.payload', 'flex_events.message'])
        .orderBy('flex_events.seq')
        .limit(mostTexts)
        .compile(),
      values([runId]).select('flex_values.body').limit(mostTexts).compile(),
    ],
    /** Calls and messages that wait. Those of runs name a run too, and are deleted with it. */
    documentsWith({ after, tenant }: RowsQuery): Statement {
      const query = db
        .selectFrom('flex_documents')
        .select(['key_hash as id', 'body'])
        .where('key_hash', '>', after)
        .where('kind', 'in', ['call', 'message'])
        .where(has('body'))
      const filtered = tenant === undefined ? query : query.where('tenant', '=', tenant)
      return filtered.orderBy('key_hash').limit(mostTexts).compile()
    },
    answersWith: ({ after, now }: RowsQuery): Statement =>
      db
        .selectFrom('once_names')
        .select(['name_hash as id', 'body'])
        .where('name_hash', '>', after)
        .where('expires_at', '>', now)
        .where(has('body'))
        .orderBy('name_hash')
        .limit(mostTexts)
        .compile(),
  }
}
