/**
 * Query templates for a database that takes lists as values. The query is built for one key or one row; its text is then
 * changed so that it takes lists: one statement to prepare and to run, whatever the number of keys or rows.
 */
import type { DialectLists } from '../dialects/sql-dialect.ts'
import type { Statement } from '../steps.ts'
import { numberColumns } from './columns.ts'
import { type Compile, type Fill, Placeholder, type Templates } from './placeholder.ts'

export function createListTemplates(
  lists: DialectLists,
  compile: Compile,
  fill: Fill,
): Pick<Templates, 'list' | 'rows' | 'each'> {
  const getType = (column: string) => (numberColumns.has(column) ? lists.number : lists.text)
  const getColumn = (rows: readonly object[], column: string) =>
    getType(column).encode(rows.map((row) => (row as Record<string, unknown>)[column]))
  // A placeholder passes for the value: only the compiler sees it.
  const param = (name: string) => new Placeholder(name) as never
  const toRow = (given: readonly string[]) =>
    Object.fromEntries(given.map((column) => [column, param(column)]))

  return {
    list(build) {
      let template: Required<Statement> | undefined
      return (values, items) => {
        template ??= takeKeys(compile(build(param, [param(keys)])), lists.text.type)
        return fill(template, ({ name }) =>
          name === keys ? lists.text.encode(items) : (values as Record<string, unknown>)[name],
        )
      }
    },

    rows(columns, _, build) {
      const byForm = new Map<string, Required<Statement>>()
      return (rows) => {
        if (rows.length === 0) return []
        const given = columns.filter((column) => holdsSomething(rows, column))
        const form = given.join()
        const template = byForm.get(form) ?? takeRows(compile(build([toRow(given)])), getType)
        if (byForm.size < mostForms || byForm.has(form)) byForm.set(form, template)
        const statement = fill(template, ({ name }) => getColumn(rows, name))
        if (byForm.has(form)) return [statement]
        // Each form is a statement to prepare: rare ones are not kept by the database either.
        const { name: __, ...unnamed } = statement
        return [unnamed]
      }
    },

    each(build) {
      let template: Required<Statement> | undefined
      return (rows) => {
        if (rows.length === 0) return []
        template ??= takeEach(compile(build(param)), getType)
        return [fill(template, ({ name }) => getColumn(rows, name))]
      }
    },
  }
}

/** Whether a column holds anything in one of the rows; if not, it is left out. */
function holdsSomething(rows: readonly object[], column: string): boolean {
  return rows.some((row) => (row as Record<string, unknown>)[column] !== null)
}

/** Beyond as many forms of one query, the statement has no name. */
const mostForms = 64

type TypeOf = (column: string) => DialectLists['text']

/** Name of the placeholder of all keys. */
const keys = '#'

/** `in ($1)` becomes `= any($1)`. */
function takeKeys({ sql, ...rest }: Required<Statement>, type: string): Required<Statement> {
  const mark = `$${rest.parameters.findIndex((item) => item instanceof Placeholder && item.name === keys) + 1}`
  return { ...rest, sql: replaceOnce(sql, `in (${mark})`, `= any(${mark}::${type})`), single: false }
}

/** `values ($1, $2)` becomes `select * from unnest($1, $2)`. */
function takeRows({ sql, ...rest }: Required<Statement>, getType: TypeOf): Required<Statement> {
  const marks = rest.parameters.map((_, index) => `$${index + 1}`)
  const given = `select * from unnest(${castAll(rest.parameters, getType)})`
  return { ...rest, sql: replaceOnce(sql, `values (${marks.join(', ')})`, given) }
}

/** `update … set a = $1 where b = $2` becomes `update … set a = given.v1 from unnest($1, $2) as given (v1, v2) where b = given.v2`. */
function takeEach({ sql, ...rest }: Required<Statement>, getType: TypeOf): Required<Statement> {
  const names = rest.parameters.map((_, index) => `v${index + 1}`)
  const given = ` from unnest(${castAll(rest.parameters, getType)}) as given (${names.join(', ')}) where `
  const named = sql.replace(/\$(\d+)/g, 'given.v$1')
  return { ...rest, sql: replaceOnce(named, ' where ', given) }
}

function castAll(parameters: readonly unknown[], getType: TypeOf): string {
  return parameters
    .map((item, index) => `$${index + 1}::${getType((item as Placeholder).name).type}`)
    .join(', ')
}

function replaceOnce(text: string, part: string, by: string): string {
  const [before, after, ...more] = text.split(part)
  if (before === undefined || after === undefined || more.length > 0)
    throw new TypeError(`Cannot give lists to: ${text}`)
  return before + by + after
}
