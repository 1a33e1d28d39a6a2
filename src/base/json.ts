/** JSON values as the whole house sees them, and their real type names (C23: null, array and integer are types). */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

/** The JSON type of a value; whole numbers are `integer`. Anything that JSON cannot hold is `undefined`. */
export function jsonType(value: unknown): JsonType | undefined {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  switch (typeof value) {
    case 'boolean':
      return 'boolean'
    case 'string':
      return 'string'
    case 'number':
      return Number.isInteger(value) ? 'integer' : Number.isFinite(value) ? 'number' : undefined
    case 'object':
      return 'object'
    default:
      return undefined
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Own property, never an inherited one: `toString` and `__proto__` are ordinary keys here. */
export function own(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
}

/** Sets an own property, also when it is called `__proto__`, which plain assignment would treat as the prototype. */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  } else {
    ;(target as Record<string, unknown>)[key] = value
  }
}

/** A deep copy. */
export function copyJson(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyJson)
  const copy = {}
  for (const [key, member] of Object.entries(value)) setOwn(copy, key, copyJson(member))
  return copy
}
