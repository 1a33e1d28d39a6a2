/** From a place in the value of a YAML file to a place in its text: what a parser or a compiler complains about becomes a located issue. */
import type { Span } from '../base/issue.ts'
import { child, type Pointer, tokens } from '../base/pointer.ts'
import type { Complain } from './pipeline.ts'
import type { YamlDocument } from './read-yaml.ts'
import { snake } from './snake-keys.ts'
import { issueAt } from './source.ts'
import type { YamlEntry, YamlNode } from './yaml-node.ts'

export function complainIn({ source, root }: Pick<YamlDocument, 'source' | 'root'>): Complain {
  return (at, { words, key, ...said }) => {
    const { node, entry } = reach(root, at)
    const span = (key ? entry?.keySpan : undefined) ?? node.alias ?? node.span
    return issueAt(source, {
      ...said,
      span: words === undefined ? span : narrowed(source.text, span, words),
      pointer: at,
    })
  }
}

/** The node at a pointer, or the innermost one around it; keys may be spelt in either way. */
function reach(root: YamlNode, pointer: Pointer): { node: YamlNode; entry?: YamlEntry; pointer: Pointer } {
  let found: { node: YamlNode; entry?: YamlEntry; pointer: Pointer } = { node: root, pointer: '' }
  for (const token of tokens(pointer)) {
    const { node } = found
    const entry =
      node.kind === 'map'
        ? (node.entries.find(({ key }) => key === token) ??
          node.entries.find(({ key }) => snake(key) === token))
        : undefined
    const inside = entry?.value ?? (node.kind === 'list' ? node.items[Number(token)] : undefined)
    if (inside === undefined) break
    found = { node: inside, ...(entry && { entry }), pointer: child(found.pointer, token) }
  }
  return found
}

/** The words inside the span, where they stand there as they are. */
function narrowed(text: string, [start, end]: Span, words: string): Span {
  const at = text.slice(start, end).indexOf(words)
  return at < 0 ? [start, end] : [start + at, start + at + words.length]
}
