/** How messages show values: as JSON, cut short, with the type said in words. */
import { jsonType } from '../base/json.ts'

/** A value as JSON text, cut at `max` characters; strings keep their quotes. */
export function clip(value: unknown, max = 80): string {
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, max + 1)) : render(value)
  return text.length > max ? `${text.slice(0, max - 1)}…` : text
}

/** `the string "abc"`, `the integer 3`, `an object with 2 properties`. */
export function describe(value: unknown): string {
  const type = jsonType(value)
  switch (type) {
    case 'null':
      return type
    case 'object':
    case 'array': {
      const count = (Array.isArray(value) ? value : Object.keys(value as object)).length
      if (count === 0) return `an empty ${type}`
      return type === 'object'
        ? `an object with ${plural(count, 'property', 'properties')}`
        : `an array of ${plural(count, 'item', 'items')}`
    }
    case undefined:
      return value === undefined ? 'absent' : `a ${typeof value}`
    default:
      return `the ${type} ${clip(value)}`
  }
}

export function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Large values are not rendered whole just to be cut: arrays and objects show their outline. */
function render(value: unknown): string {
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 20) return describe(value)
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return describe(value)
  }
}
