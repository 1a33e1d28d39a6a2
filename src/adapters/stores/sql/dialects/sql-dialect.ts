/**
 * Everything in which the SQL of one database differs from that of another: column types, table options, clock, locks. The
 * shared code asks this object and never compares names, so that a new database is one file in this folder.
 */
import type {
  ColumnDataType,
  ColumnDefinitionBuilder,
  CreateTableBuilder,
  Expression,
  Kysely,
  OnConflictBuilder,
  RawBuilder,
  SelectQueryBuilder,
} from 'kysely'
import type { Tables } from '../tables.ts'

export interface SqlDialect {
  readonly name: string
  /** Begins a write transaction. */
  readonly begin: string
  /** Whether the database has a clock of its own. Without one, each statement gets the time from its process. */
  readonly hasClock: boolean
  readonly columns: DialectColumns
  readonly locks: DialectLocks
  readonly sampling: DialectSampling
  /** How a statement takes lists of any length as single values; absent where every item is a value of its own. */
  readonly lists?: DialectLists
  /** The current time in milliseconds since 1970. */
  now(param: (name: keyof Timed) => number): RawBuilder<number>
  isMissingTable(error: unknown): boolean
}

export interface Timed {
  /** Milliseconds since 1970; ignored by a database with a clock of its own. */
  readonly now: number
}

/** Tables in migrations: they describe earlier versions, so they do not have the types of the current tables. */
export type TableBuilder = CreateTableBuilder<string, string>

/** Table definitions, for migrations. */
interface DialectColumns {
  /** Type of text that is compared and ordered by code point. */
  readonly key: ColumnDataType | Expression<unknown>
  /** Stores the rows of a table in the order of its primary key, where the database can. */
  clusterByKey(table: TableBuilder): TableBuilder
  /** Declares how the value of a generated column is kept. */
  storeGenerated(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder
  /** Returns those of the columns that an index should have besides its keys, so that queries read nothing else. */
  pickCovering(columns: readonly string[]): readonly string[]
  replacePrimaryKey(db: Kysely<unknown>, change: PrimaryKeyChange): Promise<void>
}

interface PrimaryKeyChange {
  readonly table: string
  readonly columns: readonly string[]
  /** Creates an empty table with the new key, and with the columns of the old table in their order. */
  createCopy(name: string): Promise<void>
}

type Select<TB extends keyof Tables, O> = SelectQueryBuilder<Tables, TB, O>

/** Row locks. A database with a single writer needs none. */
interface DialectLocks {
  /** Locks the selected rows until the commit; waits for rows that are locked already. */
  forUpdate<TB extends keyof Tables, O>(query: Select<TB, O>): Select<TB, O>
  /** Locks the selected rows of a table until the commit; skips rows that are locked already. */
  forUpdateSkipLocked<TB extends keyof Tables, O>(query: Select<TB, O>, table: TB): Select<TB, O>
  /** Keeps the selected rows from being deleted until the commit. */
  forKeyShare<TB extends keyof Tables, O>(query: Select<TB, O>): Select<TB, O>
  /** Ignores a value that exists and, like `forKeyShare`, keeps it from being deleted until the commit. */
  keepExistingValue(
    conflict: OnConflictBuilder<Tables, 'flex_values'>,
  ): ReturnType<OnConflictBuilder<Tables, 'flex_values'>['doNothing' | 'doUpdateSet']>
}

/** Lists as values: the column of many rows, or many keys. */
export interface DialectLists {
  readonly text: ListType
  readonly number: ListType
}

interface ListType {
  /** As it is written in a cast. */
  readonly type: string
  encode(values: readonly unknown[]): unknown
}

/** Expressions of the health figures. */
interface DialectSampling {
  /** The run of a span in a filter, written so that the index of the health figures is used and not that of the runs. */
  readonly runId: Expression<string>
  toWholeNumber(value: RawBuilder<unknown>): RawBuilder<number>
  /** A number in `usage` of the payload of an event. */
  readUsage(name: string): RawBuilder<number>
}
