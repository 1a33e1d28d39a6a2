/** Whose clock a statement goes by: SQLite is told the time by its one writer, PostgreSQL tells everybody the same. */
import { type RawBuilder, sql } from 'kysely'
import type { Param } from './templates.ts'

export type Dialect = 'sqlite' | 'postgres'

export interface Timed {
  /** Milliseconds since 1970; ignored by PostgreSQL. */
  readonly now: number
}

export function nowIn(dialect: Dialect, param: Param<Timed>): RawBuilder<number> {
  // The start of the statement and not the moment of evaluation: only with that one can an index be used.
  return dialect === 'postgres'
    ? sql<number>`floor(extract(epoch from statement_timestamp()) * 1000)::double precision`
    : sql<number>`${param('now')}`
}
