/**
 * Database work as generators, written once for a synchronous driver (SQLite) and an asynchronous one (PostgreSQL): a
 * generator yields statements that may be sent together, and receives their rows.
 */

export interface Statement {
  readonly sql: string
  readonly parameters: readonly unknown[]
  /** Same name, same text: databases prepare it once. */
  readonly name?: string
  /** It gives one row at most, which some drivers fetch faster. */
  readonly single?: boolean
}

/** A row as a driver gives it. */
export type Row = { readonly [column: string]: unknown }

export type Steps<T> = Generator<readonly Statement[], T, readonly (readonly Row[])[]>

/** One statement, its rows. The caller says what type they have: the query that was compiled does. */
export function* ask<R>(statement: Statement): Steps<R[]> {
  const [rows = []] = yield [statement]
  return rows as unknown as R[]
}

/** Several statements, the rows of all. */
export function* askAll<R>(statements: readonly Statement[]): Steps<R[]> {
  return (yield statements).flat() as unknown as R[]
}

/** Runs steps on a driver that answers at once. */
export function runSteps<T>(steps: Steps<T>, execute: (statement: Statement) => readonly Row[]): T {
  let next = steps.next()
  while (!next.done) next = steps.next(next.value.map(execute))
  return next.value
}

/** Runs steps on a driver that answers later; statements of one yield may be under way together. */
export async function runStepsLater<T>(
  steps: Steps<T>,
  execute: (statements: readonly Statement[]) => Promise<readonly (readonly Row[])[]>,
): Promise<T> {
  let next = steps.next()
  while (!next.done) next = steps.next(await execute(next.value))
  return next.value
}
