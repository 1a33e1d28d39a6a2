/**
 * Decides whether an alias can name a value at another offset: only after its anchor, and only until the
 * anchor name is redefined.
 */

import type { YamlNode } from '../../yaml/yaml-node.ts'
import type { LintView } from './lint-view.ts'
import { perView } from './per-view.ts'

/** Returns `*name`, or `undefined` where the value must be written out. */
export function aliasAt(view: LintView, { anchor, range }: YamlNode, offset: number): string | undefined {
  if (anchor === undefined) return undefined
  const last = anchorsOf(view)
    .get(anchor)
    ?.findLast((start) => start < offset)
  return last === range[0] ? `*${anchor}` : undefined
}

/** For each anchor name, the offsets of its values, in order of the text. */
const anchorsOf = perView(({ document: { root } }) => {
  const found = new Map<string, number[]>()
  const look = (node: YamlNode): void => {
    // Values that come from an alias or a merge are visited at their anchor.
    if (node.alias) return
    if (node.anchor !== undefined) found.set(node.anchor, [...(found.get(node.anchor) ?? []), node.range[0]])
    if (node.kind === 'list') node.items.forEach(look)
    if (node.kind === 'map') for (const { value, merged } of node.entries) if (!merged) look(value)
  }
  look(root)
  for (const starts of found.values()) starts.sort((a, b) => a - b)
  return found
})
