/** Query templates: compiled once and bound to new values each time, because building a query costs more than running it. */
import type { Compilable } from 'kysely'
import type { DialectLists } from '../dialects/sql-dialect.ts'
import type { Statement } from '../steps.ts'
import { createListTemplates } from './list-templates.ts'
import {
  type Compile,
  type Fill,
  type Param,
  Placeholder,
  type Placeholders,
  type Templates,
} from './placeholder.ts'

export type { Param, Templates } from './placeholder.ts'

/** The most items or rows in one statement. */
const largest = 64

/**
 * `prefix` keeps the names of several sets of templates on one connection apart. With `lists`, a statement takes keys and rows
 * as lists, so that there is one form of it, however many there are.
 */
export function createTemplates(prefix: string, lists?: DialectLists): Templates {
  let names = 0
  const compile: Compile = (query, single = false) => {
    const { sql, parameters } = query.compile()
    names += 1
    return { sql, parameters, single, name: `proviso_${prefix}${names}` }
  }
  const fill: Fill = ({ sql, name, single, parameters }, value) => {
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
    each(build) {
      const one = once(build, false)
      return (rows) => rows.map(one)
    },

    list<P, T>(build: (param: Param<P>, items: T[]) => Compilable) {
      const bySize = new Map<number, Required<Statement>>()
      return (values: P, items: readonly T[]) => {
        const size = 2 ** Math.ceil(Math.log2(items.length))
        let template = bySize.get(size)
        if (template === undefined) {
          const placeholders = Array.from(
            { length: size },
            (_, index) => new Placeholder('#', index) as never,
          )
          template = compile(build(param, placeholders), size === 1)
          // Longer lists are rare and their statements large: not worth remembering.
          if (size <= largest) bySize.set(size, template)
        }
        return fill(template, ({ name, index }) =>
          name === '#' ? items[Math.min(index, items.length - 1)] : (values as Record<string, unknown>)[name],
        )
      }
    },

    rows(columns, alike, build) {
      const byForm = new Map<string, Required<Statement>>()
      const templateOf = (size: number, form: string): Required<Statement> => {
        const name = `${size} ${form}`
        let template = byForm.get(name)
        if (template === undefined) {
          if (form !== '' && byForm.size >= mostForms) return templateOf(size, '')
          template = numbered(compile(build(toPlaceholderRows(columns, size, form))))
          byForm.set(name, template)
        }
        return template
      }
      return (rows) => {
        const statements: Statement[] = []
        const form = formOf(rows as readonly Record<string, unknown>[], columns, alike)
        for (let from = 0; from < rows.length; ) {
          const size = chunk(rows.length - from)
          const first = from
          statements.push(
            fill(
              templateOf(size, form),
              ({ name, index }) => (rows[first + index] as Record<string, unknown>)[name],
            ),
          )
          from += size
        }
        return statements
      }
    },
    ...(lists && createListTemplates(lists, compile, fill)),
  }
}

/** Beyond as many forms of one query, all values are given: each form is a statement to prepare. */
const mostForms = 64

/** What each column of some rows holds: nothing (`0`), the same in all (`=`) or its own in each (`*`). */
function formOf(
  rows: readonly Record<string, unknown>[],
  columns: readonly string[],
  alike: readonly string[],
): string {
  let form = ''
  for (const name of columns) {
    const value = rows[0]?.[name]
    const isSame = (value === null || alike.includes(name)) && isSameInAll(rows, name)
    form += !isSame ? '*' : value === null ? '0' : '='
  }
  return form
}

function isSameInAll(rows: readonly Record<string, unknown>[], name: string): boolean {
  const value = rows[0]?.[name]
  for (let index = 1; index < rows.length; index++) if (rows[index]?.[name] !== value) return false
  return true
}

/** Numbers equal placeholders once, so that a value used in several rows is bound once. */
function numbered({ sql, parameters, ...rest }: Required<Statement>): Required<Statement> {
  const placeholders = [...new Set(parameters)]
  if (placeholders.length === parameters.length) return { sql, parameters, ...rest }
  let index = 0
  const numberedSql = sql.replace(/\?|\$\d+/g, (mark) => {
    const placeholder = placeholders.indexOf(parameters[index++]) + 1
    return `${mark[0]}${placeholder}`
  })
  return { sql: numberedSql, parameters: placeholders, ...rest }
}

/** Small numbers as they are, larger ones by powers of two: few statements to prepare, and few to run. */
function chunk(rows: number): number {
  return rows <= 8 ? rows : Math.min(largest, 2 ** Math.floor(Math.log2(rows)))
}

function toPlaceholderRows(columns: readonly string[], count: number, form: string): Placeholders {
  const shared = new Map<string, Placeholder>()
  for (const [index, column] of columns.entries()) {
    if (form[index] === '=') shared.set(column, new Placeholder(column))
  }
  const given = columns.filter((_, index) => form[index] !== '0')
  return Array.from({ length: count }, (_, row) =>
    Object.fromEntries(given.map((column) => [column, shared.get(column) ?? new Placeholder(column, row)])),
  )
}
