/** The reader's options, filled in and checked once at the door. */
import { ProvisoError } from '../base/error.ts'
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
  /** Whether the value at a pointer may not be converted. */
  readonly isClosed: (pointer: string) => boolean
  readonly limits: Limits
  readonly options: ParseOptions
}

export const defaultLimits: Limits = {
  bytes: 16 * 1024 * 1024,
  depth: 512,
  steps: 50_000_000,
  repairs: 10_000,
}

/** Every conversion whose outcome is beyond doubt; the rest needs an explicit entry. */
const FULL: Required<Allow> = {
  integer: ['str->int', 'unwrap'],
  number: ['str->float', 'unwrap'],
  boolean: ['str->bool', 'unwrap'],
  string: ['num->str', 'json->str', 'unwrap'],
  array: ['str->array', 'wrap'],
  object: ['str->object', 'unwrap'],
  null: ['str->null'],
}

const cache = new WeakMap<ParseOptions, Settings>()
const NO_OPTIONS: ParseOptions = {}

export function settingsOf(options: ParseOptions = NO_OPTIONS): Settings {
  let settings = cache.get(options)
  if (settings === undefined) {
    settings = fill(options)
    cache.set(options, settings)
  }
  return settings
}

function fill(options: ParseOptions): Settings {
  const aop = oneOf('aop', options.aop ?? 'full', ['off', 'minimal', 'full'] as const)
  oneOf('anyOf', options.anyOf ?? 'first-pass', ['first-pass'] as const)
  const limits = { ...defaultLimits, ...options.limits }
  for (const [name, value] of Object.entries(limits)) {
    if (!(Number.isInteger(value) && value >= 0))
      throw invalid(`limits.${name}`, value, 'a whole number, 0 or more')
  }
  if (limits.depth > 2_000) throw invalid('limits.depth', limits.depth, 'at most 2000')
  const unescapeDepth = options.unescapeDepth ?? 2
  if (!(Number.isInteger(unescapeDepth) && unescapeDepth >= 0 && unescapeDepth <= 16)) {
    throw invalid('unescapeDepth', unescapeDepth, 'a whole number from 0 to 16')
  }
  return {
    aop,
    tolerance: oneOf('tolerance', options.tolerance ?? (aop === 'full' ? 2 : 0), [0, 1, 2] as const),
    allows: allowance(aop, options.allow),
    unescapeDepth,
    prefer: oneOf('prefer', options.prefer ?? 'first', ['first', 'last', 'largest'] as const),
    acceptTruncated: options.acceptTruncated ?? false,
    salvage: options.salvage ?? false,
    defaults: options.defaults ?? false,
    isClosed: closedPaths(options.closed ?? []),
    limits,
    options,
  }
}

/** A type with an entry of its own allows just that; the others keep what the level allows (C2: `minimal` nothing). */
function allowance(aop: 'off' | 'minimal' | 'full', allow: Allow | undefined): Settings['allows'] {
  return (type, conversion) => (allow?.[type] ?? (aop === 'full' ? FULL[type] : [])).includes(conversion)
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

function oneOf<T>(name: string, value: T, allowed: readonly T[]): T {
  if (!allowed.includes(value))
    throw invalid(name, value, `one of ${allowed.map((a) => JSON.stringify(a)).join(', ')}`)
  return value
}

function invalid(name: string, value: unknown, expected: string): ProvisoError {
  return new ProvisoError(
    'option/invalid',
    `Option ${name} must be ${expected}, but is ${JSON.stringify(value)}`,
  )
}
