/** Describes schema objects of Zod 3, and of Zod 4.0 and 4.1 with `zod/mini`. From 4.2 on, Zod gives its JSON Schema itself. */
import {
  basicKinds,
  type Describe,
  describeNullable,
  describeNumber,
  describeObject,
  describeTuple,
  describeValues,
  enumValues,
  type Fields,
  toFields,
  toList,
} from './build.ts'

/** Zod 4 keeps its definition behind `_zod`, with the kind in `type`; Zod 3 calls kinds `ZodObject` and the like. */
function definition(node: unknown): { readonly kind: string; readonly def: Fields } {
  const { _zod, _def } = toFields(node)
  const def = toFields(_zod ? toFields(_zod)['def'] : _def)
  return { kind: _zod ? String(def['type']) : String(def['typeName']).slice(3).toLowerCase(), def }
}

export const describeZod: Describe = (node, convert) => {
  const { kind, def } = definition(node)
  const { innerType, options, left, right, shape } = def
  switch (kind) {
    case 'number':
      return describeBounds(node, def)
    case 'object':
      return describeObject(
        { entries: typeof shape === 'function' ? shape() : shape, isOptional, rest: restOf(def) },
        convert,
      )
    case 'array':
      return { type: 'array', items: convert(def['element'] ?? def['type']) }
    case 'tuple':
      return describeTuple(def['items'], def['rest'] ?? false, convert)
    case 'record':
      return { type: 'object', additionalProperties: convert(def['valueType']) }
    case 'union':
    case 'discriminatedunion':
      return { anyOf: toList(options).map(convert) }
    case 'intersection':
      return { allOf: [convert(left), convert(right)] }
    case 'enum':
    case 'nativeenum':
      return describeValues(enumValues(def['entries'] ?? def['values']))
    case 'literal':
      return describeValues(def['values'] ?? [def['value']])
    case 'nullable':
      return describeNullable(innerType, convert)
    case 'lazy':
      return convert((def['getter'] as () => unknown)())
    default: {
      const inner = innerOf(kind, def)
      return inner ? convert(inner) : (basicKinds[kind] ?? {})
    }
  }
}

/** What an optional, default, catch, brand, effect or pipe holds. */
function innerOf(kind: string, def: Fields): unknown {
  const { in: first, out } = def
  // A pipe that begins with a function (`z.preprocess`) takes in anything; what it should become guides best.
  if (first) return definition(first).kind === 'transform' ? out : first
  return def['innerType'] ?? def['schema'] ?? (kind === 'branded' ? def['type'] : undefined)
}

/** Zod 3 marks objects without `catchall` by one that accepts nothing; in Zod 4 that is a strict object. */
function restOf({ catchall, unknownKeys }: Fields): unknown {
  if (!catchall || definition(catchall).kind !== 'never') return catchall
  return unknownKeys && unknownKeys !== 'strict' ? undefined : false
}

function describeBounds(node: Fields, { checks }: Fields) {
  if (node['_zod']) {
    const { format, maximum } = toFields(toFields(node['_zod'])['bag'])
    return describeNumber(/int/.test(String(format)), maximum)
  }
  const bounds = Object.fromEntries(toList(checks).map((check) => [toFields(check)['kind'], toFields(check)]))
  return describeNumber('int' in bounds, bounds['max']?.['value'])
}

/** Said by the objects alone: Zod 3 itself would run the caller's functions to find out. */
function isOptional(node: Fields): boolean {
  if (node['_zod']) return toFields(node['_zod'])['optin'] === 'optional'
  const { kind, def } = definition(node)
  if (/optional|default|catch|any|unknown|undefined|void/.test(kind)) return true
  const { effect, options } = def
  if (effect && toFields(effect)['type'] === 'preprocess') return true
  const inner = innerOf(kind, def)
  return inner ? isOptional(toFields(inner)) : toList(options).some((option) => isOptional(toFields(option)))
}
