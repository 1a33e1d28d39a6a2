/** Maps camelCase keys of pipelines and configuration to snake_case. The only such mapper (C51). */
import { isObject, type Json, setOwn } from '../../base/json.ts'

export function snake(key: string): string {
  return key.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Renames the keys of a map; `deep` includes nested maps, except below keys that hold the author's data. */
export function snakeKeys(
  value: Json,
  options: { readonly deep?: boolean; readonly except?: readonly string[] } = {},
): Json {
  if (!isObject(value)) return value
  const renamed = {}
  for (const [given, member] of Object.entries(value as { [key: string]: Json })) {
    const key = snake(given)
    const inside = options.deep && !options.except?.includes(key) ? snakeKeys(member, options) : member
    if (!Object.hasOwn(renamed, key) || key === given) setOwn(renamed, key, inside)
  }
  return renamed
}
