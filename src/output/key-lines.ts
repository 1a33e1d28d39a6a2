/** Lines of `key: value` where an object is wanted: answers that look like YAML, a form or a bulleted list. */
import { normalForm } from './names.ts'
import type { Region } from './scan.ts'
import type { Guided } from './target.ts'
import { makeNode, type Node } from './tree.ts'

const LINE =
  /^\s*(?:[-*+•]\s+)?(?:\*\*|__|["'`])?([\p{L}_$][\p{L}\p{N}_$ .-]{0,60}?)(?:\*\*|__|["'`])?\s*(?:[:：=]|\*\*\s*:)\s*(?:\*\*)?(.*?)\s*,?\s*$/u
const BULLET = /^\s*(?:[-*+•]|\d+[.)])\s+(.+?)\s*$/

/** An object from lines whose keys the schema declares; undefined when fewer than all required ones are there. */
export function keyLines(text: string, guided: Guided): Region | undefined {
  if (text.length > 100_000 || guided.root.names.length === 0) return undefined
  const known = new Map(guided.root.names.map((name) => [normalForm(name), name]))
  const members = new Map<string, Node>()
  let list: Node[] | undefined
  for (const line of text.split('\n')) {
    const match = LINE.exec(line)
    const name = match === null ? undefined : known.get(normalForm(match[1] as string))
    if (name !== undefined && !members.has(name)) {
      const value = match?.[2] as string
      list = value === '' ? [] : undefined
      members.set(name, value === '' ? listNode(list as Node[]) : word(value))
    } else if (list !== undefined) {
      const bullet = BULLET.exec(line)
      if (bullet !== null) list.push(word(bullet[1] as string))
      else if (line.trim() !== '') list = undefined
    }
  }
  const entries = [...members].filter(([, node]) => node.items?.length !== 0)
  if (
    entries.length === 0 ||
    [...guided.root.required].some((name) => !entries.some(([key]) => key === name))
  )
    return undefined
  return region(text, entries)
}

function word(text: string): Node {
  const quoted = /^(["'`])(.*)\1$/.exec(text)
  return { ...makeNode('string', quoted ? (quoted[2] as string) : text, 0, 0), bare: quoted === null }
}

function listNode(items: Node[]): Node {
  return { ...makeNode('array', undefined, 0, 0), items }
}

function region(text: string, entries: readonly (readonly [string, Node])[]): Region {
  for (const [, node] of entries)
    if (node.items !== undefined) node.value = node.items.map((item) => item.value)
  const node: Node = {
    ...makeNode(
      'object',
      Object.fromEntries(entries.map(([key, item]) => [key, item.value])),
      0,
      text.length,
    ),
    keys: entries.map(([key]) => key),
    items: entries.map(([, item]) => item),
    starts: entries.map(() => 0),
  }
  const edits = [{ rule: 'key-lines' as const, start: 0, end: text.length, after: node }]
  return { node, edits, start: 0, end: text.length, truncated: false, fence: undefined, reasoning: false }
}
