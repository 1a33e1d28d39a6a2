/** Query templates as their users see them, and the placeholders of values that are bound later. */
import type { Compilable } from 'kysely'
import type { Statement } from '../steps.ts'

/** Marks a value that is bound later. */
export class Placeholder {
  readonly name: string
  /** Which item of a list, or which row. */
  readonly index: number
  constructor(name: string, index = 0) {
    this.name = name
    this.index = index
  }
}

/** Compiles a query and names it. */
export type Compile = (query: Compilable, single?: boolean) => Required<Statement>

/** Binds the values of placeholders. */
export type Fill = (template: Required<Statement>, value: (placeholder: Placeholder) => unknown) => Statement

/** Returns the placeholder of a value, typed as the value, so that the query is type-checked. */
export type Param<P> = <K extends keyof P & string>(name: K) => P[K]

/** Rows of placeholders. */
export type Placeholders = Record<string, unknown>[]

export interface Templates {
  /** A query with named values. */
  query<P>(build: (param: Param<P>) => Compilable): (values: P) => Statement
  /** A query for at most one row. */
  one<P>(build: (param: Param<P>) => Compilable): (values: P) => Statement
  /** A query by a list of unique keys, of any length but zero. It is filled up to a power of two with its last key. */
  list<P, T>(
    build: (param: Param<P>, items: T[]) => Compilable,
  ): (values: P, items: readonly T[]) => Statement
  /**
   * A query that takes whole rows, in as few statements as are worth preparing, and with as few values as possible, for
   * binding them costs more than the rest. Columns that hold nothing in all of the rows are left out: they must be null where
   * nothing is said of them. What is often the same in all rows (`alike`) is given once when it is.
   */
  rows<R extends object>(
    columns: readonly string[],
    alike: readonly string[],
    build: (placeholders: Placeholders) => Compilable,
  ): (rows: readonly R[]) => Statement[]
  /** A query with named values for each of some rows; in one statement for all if the database takes lists. */
  each<P extends object>(build: (param: Param<P>) => Compilable): (rows: readonly P[]) => Statement[]
}
