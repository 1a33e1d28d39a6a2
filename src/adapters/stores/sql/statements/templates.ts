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
          template = compile(build(param, placeholders))
          // Longer lists are rare and their statements large: not worth remembering.
          if (size <= largest) bySize.set(size, template)
        }
        return fill(template, ({ name, index }) =>
          name === '#' ? items[Math.min(index, items.length - 1)] : (values as Record<string, unknown>)[name],
        )
      }
    },

    rows(columns, alike, build) {
      const byForm = new Map<number, Required<Statement>>()
      const mayBeAlike = columns.map((name) => alike.includes(name))
      const buildTemplate = (size: number, form: number): Required<Statement> => {
        const key = form * (largest + 1) + size
        let template = byForm.get(key)
        if (template === undefined) {
          if (form !== allGiven && byForm.size >= mostForms) return buildTemplate(size, allGiven)
          template = numbered(compile(build(toPlaceholderRows(columns, size, form))))
          byForm.set(key, template)
        }
        return template
      }
      return (rows) => {
        const statements: Statement[] = []
        const form = findForm(rows as readonly Record<string, unknown>[], columns, mayBeAlike)
        for (let from = 0; from < rows.length; ) {
          const size = chunk(rows.length - from)
          const first = from
          statements.push(
            fill(
              buildTemplate(size, form),
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

/** What a column holds in some rows: nothing, or the same in all; 0 is its own value in each. */
const [absent, shared] = [1, 2]
/** The form in which every row gives every column. */
const allGiven = 0

/** What each column of some rows holds, as the digits of a number with the base 3; the first column is the lowest digit. */
function findForm(
  rows: readonly Record<string, unknown>[],
  columns: readonly string[],
  mayBeAlike: readonly boolean[],
): number {
  const [first] = rows
  let [form, digit] = [allGiven, 1]
  for (let index = 0; index < columns.length; index++) {
    const name = columns[index] as string
    const value = first?.[name]
    if ((value === null || mayBeAlike[index]) && isSameInAll(rows, name))
      form += digit * (value === null ? absent : shared)
    digit *= 3
  }
  return form
}

function digitAt(form: number, index: number): number {
  return Math.floor(form / 3 ** index) % 3
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

function toPlaceholderRows(columns: readonly string[], count: number, form: number): Placeholders {
  const ofAll = new Map<string, Placeholder>()
  for (const [index, column] of columns.entries()) {
    if (digitAt(form, index) === shared) ofAll.set(column, new Placeholder(column))
  }
  const present = columns.filter((_, index) => digitAt(form, index) !== absent)
  return Array.from({ length: count }, (_, row) =>
    Object.fromEntries(present.map((column) => [column, ofAll.get(column) ?? new Placeholder(column, row)])),
  )
}
