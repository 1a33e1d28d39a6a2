/** Whether a value is of a type that a shape wants: the quick question before any conversion. */
import { type JsonType, jsonType } from '../base/json.ts'
import type { Shape } from '../schema/shape.ts'
import type { Node } from './tree.ts'

export function wants(shape: Shape, type: JsonType): boolean {
  if (shape.types.length === 0) return true
  return shape.types.includes(type) || (type === 'integer' && shape.types.includes('number'))
}

/** A scalar that is of a wanted type and a listed value, and is really what it seems to be. */
export function fits(value: unknown, node: Node | undefined, shape: Shape): boolean {
  if (node?.kind === 'constant')
    return shape.types.length > 0 ? shape.types.includes('null') : shape.values === undefined
  if (node?.big && (shape.types.includes('integer') || shape.types.includes('number')))
    return shape.types.includes('string')
  const type = jsonType(value)
  if (type === undefined || !wants(shape, type)) return false
  return shape.values === undefined || shape.values.includes(value)
}
