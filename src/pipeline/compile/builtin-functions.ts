/** The functions of the built-ins: pure functions from the input and the parameters of a step to its output. */
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, type Json, own, setOwn } from '../../base/json.ts'
import { follow, missing } from '../../schema/condition/evaluate.ts'

type Members = { readonly [name: string]: Json }

interface BuiltinFunction {
  readonly summary: string
  readonly run: (inputs: Members) => Json
}

export const builtinFunctions = {
  wrap_dict: {
    summary: 'Puts a value into a map under one key.',
    run: ({ input = null, key = 'value' }) => keyed(String(key), input),
  },
  ensure_object: {
    summary: 'Makes a map of a value: as it is, out of JSON text, or under one key.',
    run: ({ input = null, key = 'value' }) => asObject(input) ?? keyed(String(key), input),
  },
  passthrough: { summary: 'Returns its input.', run: ({ input = null }) => input },
  stringify: {
    summary: 'Writes a value as JSON text; a text stays as it is.',
    run: ({ input = null }) => toText(input),
  },
  select_fields: {
    summary: 'Takes members of a map, under their own or other names.',
    run: ({ input = null, fields = {} }) => selectFields(input, fields as Members),
  },
  flatten: {
    summary: 'Makes one list of a list of lists.',
    run: ({ input = null }) => toList(input, 'flatten').flatMap((each) => each as Json[]),
  },
  join: {
    summary: 'Joins the elements of a list to one text.',
    run: ({ input = null, separator = ', ' }) => toList(input, 'join').map(toText).join(String(separator)),
  },
  to_csv: {
    summary: 'Writes a list of maps or lists as CSV.',
    run: ({ input = null, ...options }) => toCsv(toList(input, 'to_csv'), options),
  },
} as const satisfies Record<string, BuiltinFunction>

function toText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function toList(value: Json, name: string): readonly Json[] {
  if (Array.isArray(value)) return value
  throw new ProvisoError('capability/refused', `${name} takes a list, got ${toText(value).slice(0, 60)}`, {
    hint: 'Set input to a list, such as "{{ steps.each.output }}"',
  })
}

/** Members that the input does not have are left out. */
function selectFields(input: Json, fields: Members): Json {
  const selected = {}
  for (const [name, path] of Object.entries(fields)) {
    const found = follow(input, String(path).split('.'))
    if (found !== missing) setOwn(selected, name, found as Json)
  }
  return selected
}

interface CsvOptions {
  readonly columns?: readonly string[]
  readonly header?: boolean
  readonly delimiter?: string
  readonly formulas?: 'escape' | 'keep'
}

/** CSV as in RFC 4180: lines end with CR LF, cells with special characters are in quotes. */
function toCsv(rows: readonly Json[], options: Members): string {
  const {
    columns = findColumns(rows),
    header = true,
    delimiter = ',',
    formulas = 'escape',
  } = options as CsvOptions
  const write = (cells: readonly Json[]) =>
    cells.map((cell) => toCell(cell, { delimiter, formulas })).join(delimiter)
  const lines = rows.map((row) =>
    write(isObject(row) ? columns.map((name) => (own(row, name) as Json | undefined) ?? null) : [row].flat()),
  )
  const first = header && columns.length > 0 ? [write(columns)] : []
  return [...first, ...lines].map((line) => `${line}\r\n`).join('')
}

/** The members of all maps, in the order in which they occur. */
function findColumns(rows: readonly Json[]): readonly string[] {
  return [...new Set(rows.flatMap((row) => (isObject(row) ? Object.keys(row) : [])))]
}

/** Characters at which a spreadsheet takes a cell for a formula. */
const formulaStart = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/

/**
 * A text that a spreadsheet would evaluate (CSV injection) gets an apostrophe in front, which makes it a text there.
 * Numbers stay as they are.
 */
function toCell(
  value: Json,
  { delimiter, formulas }: Required<Pick<CsvOptions, 'delimiter' | 'formulas'>>,
): string {
  if (value === null) return ''
  const plain = toText(value)
  const isFormula =
    formulas === 'escape' && typeof value === 'string' && formulaStart.test(plain.replace(/^ +/, ''))
  const text = isFormula ? `'${plain}` : plain
  return /["\r\n]/.test(text) || text.includes(delimiter) || isFormula || /^\s|\s$/.test(text)
    ? `"${text.replaceAll('"', '""')}"`
    : text
}

function keyed(key: string, value: Json): Json {
  const made = {}
  setOwn(made, key, value)
  return made
}

function asObject(value: Json): Json | undefined {
  if (isObject(value)) return value as Json
  if (typeof value !== 'string') return undefined
  try {
    const read: unknown = JSON.parse(value)
    return isObject(read) ? (read as Json) : undefined
  } catch {
    return undefined
  }
}
