/** Queries that are compiled once and used with other values each time: building one costs more than running it. */
import type { Compilable } from 'kysely'
import type { Statement } from './steps.ts'

/** Stands in a query for a value that comes later. */
class Placeholder {
  readonly name: string
  /** Which item of a list, or which row. */
  readonly index: number
  constructor(name: string, index = 0) {
    this.name = name
    this.index = index
  }
}

/** Gives the place of a value; its type is that of the value, so that the query is checked as if it were there. */
export type Param<P> = <K extends keyof P & string>(name: K) => P[K]

/** Places for the values of some rows, by column. */
export type Places = (columns: readonly string[]) => Record<string, unknown>[]

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
   * A query that takes whole rows, in as few statements as are worth preparing. Columns that hold nothing in all of the rows
   * are left out, for binding a value costs more than the rest: they must be null where nothing is said of them.
   */
  rows<R extends object>(build: (places: Places) => Compilable): (rows: readonly R[]) => Statement[]
}

/** The most items or rows in one statement. */
const largest = 64

/** `prefix` keeps the names of several sets of templates on one connection apart. */
export function createTemplates(prefix: string): Templates {
  let names = 0
  const compile = (query: Compilable, single = false): Required<Statement> => {
    const { sql, parameters } = query.compile()
    names += 1
    return { sql, parameters, single, name: `proviso_${prefix}${names}` }
  }
  const fill = (
    { sql, name, single, parameters }: Required<Statement>,
    value: (place: Placeholder) => unknown,
  ): Statement => {
    const filled = new Array<unknown>(parameters.length)
    for (let index = 0; index < filled.length; index++) {
      const item = parameters[index]
      filled[index] = item instanceof Placeholder ? value(item) : item
    }
    return { sql, name, single, parameters: filled }
  }
  // A placeholder passes for the value: only the compiler sees it.
  const param = (name: string) => new Placeholder(name) as never

  function once<P>(build: (param: Param<P>) => Compilable, single: boolean) {
    let template: Required<Statement> | undefined
    return (values: P) => {
      template ??= compile(build(param), single)
      return fill(template, ({ name }) => (values as Record<string, unknown>)[name])
    }
  }

  return {
    query: (build) => once(build, false),
    one: (build) => once(build, true),

    list<P, T>(build: (param: Param<P>, items: T[]) => Compilable) {
      const bySize = new Map<number, Required<Statement>>()
      return (values: P, items: readonly T[]) => {
        const size = 2 ** Math.ceil(Math.log2(items.length))
        let template = bySize.get(size)
        if (template === undefined) {
          const places = Array.from({ length: size }, (_, index) => new Placeholder('#', index) as never)
          template = compile(build(param, places), size === 1)
          // Longer lists are rare and their statements large: not worth remembering.
          if (size <= largest) bySize.set(size, template)
        }
        return fill(template, ({ name, index }) =>
          name === '#' ? items[Math.min(index, items.length - 1)] : (values as Record<string, unknown>)[name],
        )
      }
    },

    rows(build) {
      const byForm = new Map<string, Required<Statement>>()
      return (rows) => {
        const statements: Statement[] = []
        const empty = byForm.size < mostForms ? emptyColumns(rows) : []
        for (let from = 0; from < rows.length; ) {
          const size = chunk(rows.length - from)
          const first = from
          const form = `${size} ${empty.join()}`
          let template = byForm.get(form)
          if (template === undefined) {
            const places: Places = (columns) =>
              rowPlaces(
                columns.filter((name) => !empty.includes(name)),
                size,
              )
            template = compile(build(places))
            byForm.set(form, template)
          }
          statements.push(
            fill(template, ({ name, index }) => (rows[first + index] as Record<string, unknown>)[name]),
          )
          from += size
        }
        return statements
      }
    },
  }
}

/** Beyond as many forms of one query, all columns are given: each form is a statement to prepare. */
const mostForms = 64

function emptyColumns(rows: readonly object[]): string[] {
  const [first] = rows
  if (first === undefined) return []
  return Object.keys(first).filter((name) =>
    rows.every((row) => (row as Record<string, unknown>)[name] === null),
  )
}

/** Small numbers as they are, larger ones by powers of two: few statements to prepare, and few to run. */
function chunk(rows: number): number {
  return rows <= 8 ? rows : Math.min(largest, 2 ** Math.floor(Math.log2(rows)))
}

function rowPlaces(columns: readonly string[], count: number): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, row) =>
    Object.fromEntries(columns.map((column) => [column, new Placeholder(column, row)])),
  )
}
