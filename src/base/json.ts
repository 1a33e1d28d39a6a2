/** JSON values and their type names as used in the whole package (C23: null, array and integer are types); plain objects. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

/**
 * Returns the JSON type of a value; whole numbers are `integer`. Returns `undefined` for anything that JSON cannot
 * represent.
 */
export function jsonType(value: unknown): JsonType | undefined {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  if (type === 'number')
    return Number.isInteger(value) ? 'integer' : Number.isFinite(value) ? 'number' : undefined
  return type === 'boolean' || type === 'string' || type === 'object' ? type : undefined
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads an own property, never an inherited one: `toString` and `__proto__` are ordinary keys here. */
export function own(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
}

/** Sets an own property, including `__proto__`, for which plain assignment would change the prototype. */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    ;(target as Record<string, unknown>)[key] = value
  }
}

/** Deep copy. */
export function copyJson(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyJson)
  const copy = {}
  for (const [key, member] of Object.entries(value)) setOwn(copy, key, copyJson(member))
  return copy
}

/** Compares JSON values deeply. Keys such as `toString` or `constructor` are compared like any other. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, i) => jsonEqual(item, b[i]))
  }
  if (Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every((key) => Object.hasOwn(b, key) && jsonEqual(Reflect.get(a, key), Reflect.get(b, key)))
}

/** Selects the options that are set: an absent one stays absent. */
export function pick<T extends object, K extends keyof T>(
  options: T,
  keys: readonly K[],
): { [P in K]: Exclude<T[P], undefined> } {
  const entries = keys.filter((key) => options[key] !== undefined).map((key) => [key, options[key]])
  return Object.fromEntries(entries)
}

/**
 * Like `{ ...one, ...other }`, for objects created per event and per call. An object literal that starts with a spread
 * gets a new hidden class for each added member, which takes ten times as long and slows all code that reads it.
 */
export function joined<A extends object, B extends object>(one: A, other: B): A & B {
  return Object.assign({}, one, other)
}

/** Tests whether a value has the type of a name. */
export const typeTests: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  number: Number.isFinite,
  integer: Number.isInteger,
  array: Array.isArray,
  object: isObject,
}
