/** Whether a value can be named by its anchor at another place of the text: only below it, and only until somebody takes the name for something else. */
import type { LintView } from './lint-view.ts'
import { perView } from './per-view.ts'
import type { YamlNode } from './yaml-node.ts'

/** `*name`, or nothing where the value must be written out. */
export function aliasAt(view: LintView, { anchor, span }: YamlNode, place: number): string | undefined {
  if (anchor === undefined) return undefined
  const last = anchorsOf(view)
    .get(anchor)
    ?.findLast((start) => start < place)
  return last === span[0] ? `*${anchor}` : undefined
}

/** Where the values of each anchor begin, in the order of the text. */
const anchorsOf = perView(({ document: { root } }) => {
  const found = new Map<string, number[]>()
  const look = (node: YamlNode): void => {
    // What an alias or a merge brings along stands elsewhere, and is seen there.
    if (node.alias) return
    if (node.anchor !== undefined) found.set(node.anchor, [...(found.get(node.anchor) ?? []), node.span[0]])
    if (node.kind === 'list') node.items.forEach(look)
    if (node.kind === 'map') for (const { value, merged } of node.entries) if (!merged) look(value)
  }
  look(root)
  for (const starts of found.values()) starts.sort((a, b) => a - b)
  return found
})
