/** Validates options against a table with one row per name, so that a typo is a located error and not a silent default. */
import { closest } from './closest.ts'
import { ProvisoError } from './errors/error.ts'
import type { Issue } from './errors/issue.ts'
import { isObject } from './json.ts'
import { child, type Pointer } from './pointer.ts'

/** Returns the issues of a value; empty if it is valid. */
export type Check = (value: unknown, at: Pointer) => Issue[]
export type Rows = { readonly [name: string]: Check }

const issue = (at: Pointer, said: string, hint?: string): Issue => ({
  code: 'option/invalid',
  at: { pointer: at },
  message: `${at === '' ? 'the value' : at} ${said}`,
  ...(hint !== undefined && { hint }),
})

export const must =
  (test: (value: unknown) => boolean, what: string, hint?: string): Check =>
  (value, at) =>
    test(value) ? [] : [issue(at, `must be ${what}, got ${shown(value)}`, hint)]

const isFunction = (value: unknown) => typeof value === 'function'
export const has = (value: unknown, member: string, type: string) =>
  isObject(value) && typeof value[member] === type

export const callable = must(isFunction, 'a function')
export const object = must(isObject, 'an object')
export const name = must((value) => typeof value === 'string' && value !== '', 'a text that is not empty')
export const milliseconds = must(
  (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
  'a number of milliseconds above zero',
)

export const each =
  (check: Check): Check =>
  (value, at) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => check(item, child(at, index)))
      : [issue(at, `must be a list, got ${shown(value)}`)]

/** Throws `option/invalid` with all issues; `what` names the owner of the options. */
export function refuseOptions(what: string, options: unknown, rows: Rows): void {
  const issues = isObject(options) ? rowIssues(options, '', rows) : object(options, '')
  const [first] = issues
  if (first === undefined) return
  // Issues of other checks, such as schema validation, do not name their location in the message.
  const pointer = 'pointer' in first.at ? first.at.pointer : ''
  const where = first.message.startsWith(pointer) ? '' : `${pointer}: `
  const message = `Cannot use the options of ${what}: ${where}${first.message}`
  throw new ProvisoError('option/invalid', message, {
    at: first.at,
    issues,
    ...(first.hint !== undefined && { hint: first.hint }),
  })
}

/** Checks each option by its row. `undefined` counts as absent. */
export function rowIssues(options: Record<string, unknown>, at: Pointer, rows: Rows): Issue[] {
  const issues: Issue[] = []
  for (const [option, value] of Object.entries(options)) {
    const location = child(at, option)
    if (!Object.hasOwn(rows, option)) issues.push(unknownOption(option, location, rows))
    else if (value !== undefined) issues.push(...(rows[option]?.(value, location) ?? []))
  }
  return issues
}

function unknownOption(option: string, at: Pointer, rows: Rows): Issue {
  const meant = closest(option, Object.keys(rows))
  return issue(
    at,
    'is not an option',
    meant === undefined ? `Use one of ${Object.keys(rows).join(', ')}` : `Did you mean "${meant}"?`,
  )
}

function shown(value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (value === '') return 'empty'
  if (value === null) return 'null'
  // Never prints the value itself: it may be a secret.
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'another object' : `a ${typeof value}`
}
