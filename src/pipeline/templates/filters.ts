/** The template filters, one row each: pure functions from a value to a value. */
import { isObject, type Json } from '../../base/json.ts'

type Filter = (value: Json | undefined, ...args: readonly Json[]) => Json | undefined

const filters = {
  default: (value, otherwise = '') =>
    value === undefined || value === null || value === '' ? otherwise : value,
  tojson: (value) => (value === undefined ? undefined : JSON.stringify(value)),
  upper: (value) => onText(value, (text) => text.toUpperCase()),
  lower: (value) => onText(value, (text) => text.toLowerCase()),
  trim: (value) => onText(value, (text) => text.trim()),
  join: (value, by = ', ') => (Array.isArray(value) ? value.map(text).join(String(by)) : value),
  length: (value) =>
    typeof value === 'string' || Array.isArray(value)
      ? value.length
      : isObject(value)
        ? Object.keys(value).length
        : undefined,
  first: (value) => (Array.isArray(value) ? (value[0] as Json | undefined) : value),
  last: (value) => (Array.isArray(value) ? (value.at(-1) as Json | undefined) : value),
  truncate: (value, most) =>
    onText(value, (text) => (text.length > Number(most) ? `${text.slice(0, Number(most))}…` : text)),
} as const satisfies Record<string, Filter>

export type FilterName = keyof typeof filters

export interface UsedFilter {
  readonly name: FilterName
  readonly args: readonly Json[]
}

/** `undefined`: there is no value. */
export function applyFilters(value: Json | undefined, used: readonly UsedFilter[]): Json | undefined {
  return used.reduce((made, { name, args }) => (filters[name] as Filter)(made, ...args), value)
}

export function isFilterName(name: string): name is FilterName {
  return Object.hasOwn(filters, name)
}

/** Minimum and maximum number of arguments of a filter; filters without a row take none. */
export const filterArguments: { readonly [name in FilterName]?: readonly [number, number] } = {
  default: [0, 1],
  join: [0, 1],
  truncate: [1, 1],
}

function onText(value: Json | undefined, change: (text: string) => string): Json | undefined {
  return value === undefined ? undefined : change(text(value))
}

function text(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Names of the filters, for rules and fixers. */
export const templateFilters: readonly string[] = Object.keys(filters)

/** The template path of a step's output; `undefined` for names that a path cannot contain. */
export function outputOfStep(name: string): string | undefined {
  return /^[A-Za-z_][\w-]*$/.test(name) ? `steps.${name}.output` : undefined
}
