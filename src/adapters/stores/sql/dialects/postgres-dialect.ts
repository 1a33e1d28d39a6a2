/** PostgreSQL: several writers, so row locks, and the clock of the server. */
import { sql } from 'kysely'
import { toColumn } from '../../shared/column-text.ts'
import type { SqlDialect } from './sql-dialect.ts'

/** The server cannot parse JSON with NUL or lone surrogates, even if only other members have them. */
const readablePayload = sql`case when flex_events.payload like '%\\\\u%'
  then regexp_replace(flex_events.payload, '\\\\u(0000|d[89a-f][0-9a-f]{2})', '\\\\ufffd', 'g') else flex_events.payload end`

export const postgresDialect: SqlDialect = {
  name: 'postgres',
  begin: 'begin isolation level read committed',
  hasClock: true,
  columns: {
    key: sql`text collate "C"`,
    clusterByKey: (table) => table,
    storeGenerated: (column) => column.stored(),
    // The size of an index entry is limited.
    pickCovering: () => [],
    async replacePrimaryKey(db, { table, columns }) {
      await db.schema.alterTable(table).dropConstraint(`${table}_key`).execute()
      await db.schema
        .alterTable(table)
        .addPrimaryKeyConstraint(`${table}_key`, [...columns] as never[])
        .execute()
    },
  },
  locks: {
    forUpdate: (query) => query.forUpdate(),
    forUpdateSkipLocked: (query, table) => query.forUpdate(table as never).skipLocked(),
    forKeyShare: (query) => query.forKeyShare(),
    // Another process has just written it: an update without a change locks the row like a read.
    keepExistingValue: (conflict) =>
      conflict.column('hash').doUpdateSet((eb) => ({ hash: eb.ref('excluded.hash') })),
  },
  sampling: {
    runId: sql.ref<string>('spans.run_id'),
    toWholeNumber: (value) => sql<number>`floor(${value})`,
    readUsage: (name) =>
      sql<number>`((${readablePayload})::json -> 'usage' ->> ${sql.lit(name)})::double precision`,
  },
  lists: {
    text: { type: 'text[]', encode: toTextArray },
    number: { type: 'double precision[]', encode: toNumberArray },
  },
  // The start of the statement and not the moment of evaluation: only with that one can an index be used.
  now: () => sql<number>`floor(extract(epoch from statement_timestamp()) * 1000)::double precision`,
  // Code of an undefined table.
  isMissingTable: (error) => (error as { code?: unknown }).code === '42P01',
}

// Lists are sent as arrays in the binary format: a statement gets a whole column of rows as one value, nothing is escaped,
// and the server copies instead of parsing.

/** Ids of types, which no server changes. */
const textType = 25
const doubleType = 701
const headerLength = 20
const doubleLength = 8

function toTextArray(values: readonly unknown[]): Buffer {
  const texts = new Array<string | null>(values.length)
  let length = headerLength
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    const text = value === null || value === undefined ? null : toColumn(String(value))
    texts[index] = text
    length += 4 + (text === null ? 0 : Buffer.byteLength(text))
  }
  const array = Buffer.allocUnsafe(length)
  let at = writeHeader(array, textType, texts)
  for (const text of texts) {
    if (text === null) at = array.writeInt32BE(-1, at)
    else {
      const written = array.write(text, at + 4)
      array.writeInt32BE(written, at)
      at += 4 + written
    }
  }
  return array
}

function toNumberArray(values: readonly unknown[]): Buffer {
  const array = Buffer.allocUnsafe(headerLength + values.length * (4 + doubleLength))
  let at = writeHeader(array, doubleType, values)
  for (const value of values) {
    if (value === null || value === undefined) at = array.writeInt32BE(-1, at)
    else at = array.writeDoubleBE(Number(value), array.writeInt32BE(doubleLength, at))
  }
  return array.subarray(0, at)
}

/** One dimension that begins with 1, and whether nulls are among the values. */
function writeHeader(array: Buffer, type: number, values: readonly unknown[]): number {
  const hasNull = values.some((value) => value === null || value === undefined)
  let at = 0
  for (const number of [1, hasNull ? 1 : 0, type, values.length, 1]) at = array.writeInt32BE(number, at)
  return at
}
