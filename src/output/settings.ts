/** Validates the reader's options once at the entry point and fills in defaults. */
import { closest } from '../base/closest.ts'
import { ProvisoError } from '../base/errors/error.ts'
import { memoize } from '../base/memoize.ts'
import { tokens } from '../base/pointer.ts'
import type { Allow, Conversion, Limits, ParseOptions } from './types.ts'

export interface Settings {
  readonly aop: 'off' | 'minimal' | 'full'
  readonly tolerance: 0 | 1 | 2
  readonly allows: (type: keyof Allow, conversion: Conversion) => boolean
  readonly unescapeDepth: number
  readonly prefer: 'first' | 'last' | 'largest'
  readonly acceptTruncated: boolean
  readonly salvage: boolean
  readonly defaults: boolean
  /** Whether any location is excluded from conversion, and the test for one location. */
  readonly hasClosed: boolean
  readonly isClosed: (pointer: string) => boolean
  readonly limits: Limits
  readonly options: ParseOptions
}

export const defaultLimits: Limits = {
  bytes: 16 * 1024 * 1024,
  depth: 512,
  repairs: 10_000,
}

/** All conversions by target type; `num->bool` and `word->bool` apply only where the caller lists them. */
export const conversions = {
  integer: ['str->int', 'unwrap'],
  number: ['str->float', 'str->int', 'unwrap'],
  boolean: ['str->bool', 'num->bool', 'word->bool', 'unwrap'],
  string: ['num->str', 'json->str', 'unwrap'],
  array: ['str->array', 'wrap'],
  object: ['str->object', 'unwrap'],
  null: ['str->null'],
} as const satisfies { readonly [type in keyof Allow]-?: readonly Conversion[] }

/** Ambiguous conversions, off by default. */
const doubtful: ReadonlySet<Conversion> = new Set(['num->bool', 'word->bool'])

const NO_OPTIONS: ParseOptions = {}

export function resolveSettings(options: ParseOptions = NO_OPTIONS): Settings {
  return known(options)
}

const known = memoize(fill)

function fill(options: ParseOptions): Settings {
  const aop = requireOneOf('aop', options.aop ?? 'full', ['off', 'minimal', 'full'] as const)
  requireOneOf('anyOf', options.anyOf ?? 'first-pass', ['first-pass'] as const)
  const limits = { ...defaultLimits, ...options.limits }
  for (const [name, value] of Object.entries(limits)) {
    if (!(Number.isInteger(value) && value >= 0))
      throw invalid(`limits.${name}`, value, 'be a whole number, 0 or more')
  }
  if (limits.depth > 2_000) throw invalid('limits.depth', limits.depth, 'be at most 2000')
  const unescapeDepth = options.unescapeDepth ?? 2
  if (!(Number.isInteger(unescapeDepth) && unescapeDepth >= 0 && unescapeDepth <= 16)) {
    throw invalid('unescapeDepth', unescapeDepth, 'be a whole number from 0 to 16')
  }
  return {
    aop,
    tolerance: requireOneOf('tolerance', options.tolerance ?? (aop === 'full' ? 2 : 0), [0, 1, 2] as const),
    allows: allowance(aop, options.allow),
    unescapeDepth,
    prefer: requireOneOf('prefer', options.prefer ?? 'first', ['first', 'last', 'largest'] as const),
    acceptTruncated: options.acceptTruncated ?? false,
    salvage: options.salvage ?? false,
    defaults: options.defaults ?? false,
    hasClosed: (options.closed?.length ?? 0) > 0,
    isClosed: closedPaths(options.closed ?? []),
    limits,
    options,
  }
}

/**
 * Conversions allowed per type: an entry in `allow` replaces the default of its type; other types keep the level's
 * default (C2: none in `minimal`).
 */
function allowance(aop: 'off' | 'minimal' | 'full', allow: Allow | undefined): Settings['allows'] {
  checkAllow(allow ?? {})
  return (type, conversion) => {
    const listed = allow?.[type]
    if (listed !== undefined) return listed.includes(conversion)
    return aop === 'full' && isConversion(type, conversion) && !doubtful.has(conversion)
  }
}

export const isConversion = (type: keyof Allow, conversion: unknown) =>
  (conversions[type] as readonly unknown[]).includes(conversion)

/** Rejects unknown names: a misspelt name would silently allow nothing. */
function checkAllow(allow: Allow): void {
  const types = Object.keys(conversions)
  for (const [type, listed] of Object.entries(allow) as [keyof Allow, unknown][]) {
    if (!Object.hasOwn(conversions, type))
      throw unknownName('allow', type, { expected: 'name types that can be converted to', among: types })
    const wrong = Array.isArray(listed) ? listed.find((each) => !isConversion(type, each)) : listed
    if (wrong !== undefined || !Array.isArray(listed))
      throw unknownName(`allow.${type}`, wrong, {
        expected: `list conversions to ${type}`,
        among: conversions[type],
      })
  }
}

function unknownName(
  name: string,
  value: unknown,
  { expected, among }: { readonly expected: string; readonly among: readonly string[] },
): ProvisoError {
  const meant = typeof value === 'string' ? closest(value, among) : undefined
  return invalid(
    name,
    value,
    `${expected} (${among.join(', ')})`,
    meant === undefined ? '' : `. Did you mean "${meant}"?`,
  )
}

function closedPaths(closed: readonly string[]): (pointer: string) => boolean {
  if (closed.length === 0) return () => false
  const patterns = closed.map(tokens)
  return (pointer) => {
    const path = tokens(pointer)
    return patterns.some(
      (pattern) => pattern.length === path.length && pattern.every((t, i) => t === '*' || t === path[i]),
    )
  }
}

function requireOneOf<T>(name: string, value: T, allowed: readonly T[]): T {
  if (!allowed.includes(value))
    throw invalid(name, value, `be one of ${allowed.map((a) => JSON.stringify(a)).join(', ')}`)
  return value
}

function invalid(name: string, value: unknown, expected: string, hint = ''): ProvisoError {
  return new ProvisoError(
    'option/invalid',
    `Option ${name} must ${expected}, but is ${JSON.stringify(value)}${hint}`,
  )
}
