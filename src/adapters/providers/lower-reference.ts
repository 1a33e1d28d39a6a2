/** References in a provider's dialect: kept under `$defs`, written out, or refused where they lead into themselves. */
import { lookUp } from '../../schema/merge.ts'
import { type Here, type Keywords, note } from './lowering-walk.ts'
import { annotations } from './schema-words.ts'

export function lowerReference(given: Keywords, ref: string, { pointer, walk }: Here): Keywords {
  const target = lookUp(walk.root, ref)
  if (target === undefined) {
    note(walk, 'refused', pointer, '$ref', `leads to "${ref}", which is not in this schema`)
    return {}
  }
  const { $ref: _, ...beside } = given
  const said = Object.keys(beside).filter((keyword) => !annotations.has(keyword))
  const recursive = walk.open.includes(ref)
  if (recursive && !walk.dialect.recursion) {
    note(walk, 'refused', pointer, '$ref', 'recursion cannot be said')
    return {}
  }
  const inside = { ...walk, open: [...walk.open, ref] }
  if (walk.dialect.refs === 'inline' || (said.length > 0 && !recursive))
    return walk.lower({ allOf: [beside, target] }, pointer, inside)
  let name = walk.names.get(ref)
  if (name === undefined) {
    name = nameOf(ref, walk.names.size)
    walk.names.set(ref, name)
    walk.defs.set(name, {})
    walk.defs.set(name, walk.lower(target, ref.slice(1), { ...inside, depth: 0 }))
  }
  return { $ref: `#/$defs/${name}` }
}

function nameOf(ref: string, index: number): string {
  const last = ref.split('/').at(-1)?.replace(/\W+/g, '_') ?? ''
  return `${last === '' || last === '#' ? 'root' : last}_${index + 1}`
}
