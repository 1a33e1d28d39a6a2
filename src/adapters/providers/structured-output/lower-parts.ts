/** Objects and lists in a provider's dialect: closed or open, optional members, items at fixed places. */
import { isObject, setOwn } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import { type Here, type Keywords, note } from './lowering-walk.ts'
import { nullable } from './schema-words.ts'

export function lowerObject(schema: Keywords, result: Keywords, { pointer, walk }: Here): void {
  const { dialect } = walk
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const names = Object.keys(properties)
  const more = schema['additionalProperties'] ?? schema['unevaluatedProperties']
  if (dialect.closed && names.length === 0 && more !== false) {
    note(walk, 'refused', pointer, 'additionalProperties', 'an object with free keys cannot be said')
    return
  }
  const lowered: Keywords = {}
  for (const name of names) {
    const at = child(child(pointer, 'properties'), name)
    const part = walk.lower(properties[name], at, { ...walk, depth: walk.depth + 1 })
    const optional = dialect.allRequired && !required.includes(name)
    if (optional) note(walk, 'changed', at, 'required', 'is optional: it may be null instead')
    setOwn(lowered, name, optional ? nullable(part) : part)
  }
  result['properties'] = lowered
  const wanted = dialect.allRequired ? names : required.filter((name) => names.includes(name as string))
  if (wanted.length > 0) result['required'] = wanted
  if (dialect.closed) {
    if (isObject(more))
      note(walk, 'weakened', pointer, 'additionalProperties', 'keys that are not declared are left out')
    else if (more !== false) note(walk, 'changed', pointer, 'additionalProperties', 'the object is closed')
    result['additionalProperties'] = false
  } else if (!dialect.enforces.has('additionalProperties')) {
    if (more === false || isObject(more))
      note(walk, 'weakened', pointer, 'additionalProperties', 'keys that are not declared are not checked')
  } else if (more === false) result['additionalProperties'] = false
  else if (isObject(more))
    result['additionalProperties'] = walk.lower(more, child(pointer, 'additionalProperties'), {
      ...walk,
      depth: walk.depth + 1,
    })
}

export function lowerList(schema: Keywords, result: Keywords, { pointer, walk }: Here): void {
  const inside = { ...walk, depth: walk.depth + 1 }
  const prefix = schema['prefixItems']
  if (Array.isArray(prefix)) {
    if (walk.dialect.enforces.has('prefixItems'))
      result['prefixItems'] = prefix.map((part, i) => walk.lower(part, `${pointer}/prefixItems/${i}`, inside))
    else note(walk, 'weakened', pointer, 'prefixItems', 'items at fixed places are not enforced')
  }
  const items = Array.isArray(schema['items']) ? { anyOf: schema['items'] } : schema['items']
  if (items === undefined && Array.isArray(prefix) && !walk.dialect.anything)
    result['items'] = walk.lower({ anyOf: prefix }, child(pointer, 'prefixItems'), inside)
  else if (items !== false && (items !== undefined || !walk.dialect.anything))
    result['items'] = walk.lower(items ?? true, child(pointer, 'items'), inside)
}
