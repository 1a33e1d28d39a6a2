/** What `createApp` and `run` may be given, one row per option: a slip of the pen is an error that says where, not a default. */
import { closest } from './base/closest.ts'
import { ProvisoError } from './base/error.ts'
import type { Issue } from './base/issue.ts'
import { isObject } from './base/json.ts'
import { child, type Pointer } from './base/pointer.ts'

/** What is wrong with a value, in words that follow its name; nothing if it can be used. */
type Check = (value: unknown, at: Pointer) => Issue[]
type Rows = { readonly [name: string]: Check }

const issue = (at: Pointer, message: string, hint?: string): Issue => ({
  code: 'option/invalid',
  at: { pointer: at },
  message,
  ...(hint !== undefined && { hint }),
})

const must =
  (test: (value: unknown) => boolean, what: string, hint?: string): Check =>
  (value, at) =>
    test(value) ? [] : [issue(at, `must be ${what}, and is ${shown(value)}`, hint)]

const isFunction = (value: unknown) => typeof value === 'function'
const has = (value: unknown, member: string, type: string) => isObject(value) && typeof value[member] === type

const callable = must(isFunction, 'a function')
const object = must(isObject, 'an object')
const name = must((value) => typeof value === 'string' && value !== '', 'a text that is not empty')
const milliseconds = must(
  (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
  'a number of milliseconds above zero',
)

const each =
  (check: Check): Check =>
  (value, at) =>
    Array.isArray(value)
      ? value.flatMap((item, index) => check(item, child(at, index)))
      : [issue(at, `must be a list, and is ${shown(value)}`)]

const limits: Check = (value, at) =>
  isObject(value)
    ? rowIssues(value, at, {
        process: must((most) => Number.isSafeInteger(most) && Number(most) > 0, 'a whole number above zero'),
        capability: callable,
      })
    : object(value, at)

const appRows = {
  store: must(
    (value) => typeof value === 'string' || has(value, 'append', 'function'),
    'an open store or its address',
    'memory:, sqlite:PATH or postgres://…',
  ),
  capabilities: each(
    must(
      (value) => isObject(value) && has(value['capability'], 'capabilityId', 'string'),
      'what defineCapability returns',
    ),
  ),
  facets: each(object),
  planner: must((value) => has(value, 'draft', 'function'), 'a planner with a function `draft`'),
  providers: each(object),
  defaultModel: name,
  env: object,
  processing: object,
  prices: each(object),
  secrets: each(must((value) => typeof value === 'string', 'a text')),
  onPartial: callable,
  dispatchers: each(
    must((value) => has(value, 'dispatch', 'function'), 'a dispatcher with a function `dispatch`'),
  ),
  clock: must((value) => has(value, 'now', 'function'), 'a clock with a function `now`'),
  newId: callable,
  leaseMs: milliseconds,
  pollMs: milliseconds,
  askMs: milliseconds,
  limits,
  owner: name,
  onCrash: callable,
  onMissing: callable,
  carry: must((value) => ['all', 'own', 'none'].includes(value as string), '"all", "own" or "none"'),
  tracing: must((value) => value === false || isObject(value), 'an object or false'),
  http: object,
  ledger: must((value) => typeof value === 'boolean', 'true or false'),
} satisfies Rows

const runRows = {
  runId: name,
  tenant: name,
  threadId: name,
  correlationId: name,
  draft: () => [],
  signal: must((value) => value instanceof AbortSignal, 'an AbortSignal'),
  traceparent: name,
} satisfies Rows

/** The names of all options: whoever declares them is held to this list. */
export type AppOptionName = keyof typeof appRows
export type RunOptionName = keyof typeof runRows

/** Throws `option/invalid` with every issue. */
export function checkAppOptions(options: unknown): void {
  refuse('createApp', options, appRows)
}

export function checkRunOptions(options: unknown): void {
  refuse('a run', options, runRows)
}

function refuse(what: string, options: unknown, rows: Rows): void {
  const issues = isObject(options) ? rowIssues(options, '', rows) : object(options, '')
  const [first] = issues
  if (first === undefined) return
  const where = 'pointer' in first.at ? first.at.pointer : ''
  const message = `The options of ${what} cannot be used: ${where} ${first.message}`
  throw new ProvisoError('option/invalid', message, {
    at: first.at,
    issues,
    ...(first.hint !== undefined && { hint: first.hint }),
  })
}

/** An option that is `undefined` was not given. */
function rowIssues(options: Record<string, unknown>, at: Pointer, rows: Rows): Issue[] {
  return Object.entries(options).flatMap(([option, value]) => {
    const place = child(at, option)
    if (!Object.hasOwn(rows, option)) return [unknownOption(option, place, rows)]
    return value === undefined ? [] : (rows[option]?.(value, place) ?? [])
  })
}

function unknownOption(option: string, at: Pointer, rows: Rows): Issue {
  const meant = closest(option, Object.keys(rows))
  return issue(
    at,
    'is no option',
    meant === undefined ? `There are ${Object.keys(rows).join(', ')}` : `Did you mean "${meant}"?`,
  )
}

function shown(value: unknown): string {
  if (typeof value === 'number') return String(value)
  if (value === '') return 'empty'
  if (value === null) return 'null'
  // Not the value itself: it may be a secret.
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'another object' : `a ${typeof value}`
}
