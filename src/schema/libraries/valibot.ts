/** Describes schema objects of Valibot 1. */
import {
  basicKinds,
  type Describe,
  describeNullable,
  describeNumber,
  describeObject,
  describeTuple,
  describeValues,
  type Fields,
  toFields,
  toList,
} from './build.ts'

const isOptional = ({ type }: Fields) => /^(exact_)?optional|^nullish/.test(String(type))

export const describeValibot: Describe = (node, convert) => {
  const type = String(node['type'])
  const rest = type.startsWith('strict_') ? false : node['rest']
  switch (type.replace(/^(loose|strict)_|_with_rest$/, '')) {
    case 'number': {
      const actions = actionsOf(node)
      const isInteger = actions.some((action) => /integer$/.test(String(action['type'])))
      return describeNumber(
        isInteger,
        actions.find((action) => action['type'] === 'max_value')?.['requirement'],
      )
    }
    case 'object':
      return describeObject({ entries: node['entries'], isOptional, rest }, convert)
    case 'array':
      return { type: 'array', items: convert(node['item']) }
    case 'tuple':
      return describeTuple(node['items'], rest, convert)
    case 'record':
      return { type: 'object', additionalProperties: convert(node['value']) }
    case 'union':
    case 'variant':
      return { anyOf: toList(node['options']).map(convert) }
    case 'intersect':
      return { allOf: toList(node['options']).map(convert) }
    case 'enum':
    case 'picklist':
      return describeValues(node['options'])
    case 'literal':
      return describeValues([node['literal']])
    case 'nullable':
    case 'nullish':
      return describeNullable(node['wrapped'], convert)
    case 'lazy':
      // The getter is given the input in some schemas; without one it answers as for any.
      return convert((node['getter'] as () => unknown)())
    default:
      return node['wrapped'] ? convert(node['wrapped']) : (basicKinds[type] ?? {})
  }
}

/** The checks of a pipe up to its first transformation: what follows is about another value. */
function actionsOf(node: Fields): readonly Fields[] {
  const actions = toList(node['pipe']).map(toFields)
  const end = actions.findIndex(({ kind }) => kind === 'transformation')
  return end < 0 ? actions : actions.slice(0, end)
}
