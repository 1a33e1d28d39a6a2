/** Checks whether a value already has a type that the shape allows: the cheap test before any conversion. */
import { type JsonType, jsonType } from '../../base/json.ts'
import type { Shape } from '../../schema/shape.ts'
import type { Node } from '../decode/tree/tree.ts'

export function allowsType(shape: Shape, type: JsonType): boolean {
  if (shape.types.length === 0) return true
  return shape.types.includes(type) || (type === 'integer' && shape.types.includes('number'))
}

/** Whether a scalar has an allowed type, is a listed value, and is exact (not `NaN` or digits kept as text). */
export function fits(value: unknown, node: Node | undefined, shape: Shape): boolean {
  if (node?.kind === 'constant')
    return shape.types.length > 0 ? shape.types.includes('null') : shape.values === undefined
  if (node?.big && (shape.types.includes('integer') || shape.types.includes('number')))
    return shape.types.includes('string')
  const type = jsonType(value)
  if (type === undefined || !allowsType(shape, type)) return false
  return shape.values === undefined || shape.values.includes(value)
}
