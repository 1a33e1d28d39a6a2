/** Completion of an envelope in the editor, from the schema that the server validates with. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { syntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'
import type { SyntaxNode } from '@lezer/common'
import { type Given, listMembers, listValues, type Member } from './envelope-schema.ts'

/** Keywords of the schema of the answer. */
const keywords: readonly (readonly [name: string, insert: string, info: string])[] = [
  ['type', '"string"', 'type of the value'],
  ['properties', '{}', 'members of an object'],
  ['required', '[]', 'members that must be there'],
  ['items', '{}', 'schema of the items'],
  ['enum', '[]', 'allowed values'],
  ['description', '""', 'what is meant, for models and people'],
  ['title', '""', 'label in forms'],
  ['minLength', '1', 'shortest text'],
  ['maxLength', '200', 'longest text'],
  ['minimum', '0', 'least number'],
  ['maximum', '100', 'greatest number'],
  ['minItems', '1', 'fewest items'],
  ['maxItems', '10', 'most items'],
  ['additionalProperties', 'false', 'whether other members are allowed'],
]
const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

/** Names of members are the author's in these objects. */
const isFree = (path: readonly string[]) => ['properties', '$defs'].includes(path.at(-1) ?? '')
const isInSchema = ([first, second]: readonly string[]) => first === 'outputContract' && second === 'schema'

function membersAt(path: readonly string[], given: Given): readonly Member[] {
  if (!isInSchema(path)) return listMembers(path, given)
  if (isFree(path)) return []
  return keywords.filter(([name]) => !given.has(name)).map(([name, insert, info]) => ({ name, insert, info }))
}

/** Members whose values are names of capabilities or facets. */
const named = new Set(['capabilityId', 'facet', 'require', 'forbid', 'prefer', 'avoid'])

/** Completes names of members, values that must be one of several, and the ids of capabilities and facets. */
export function completeEnvelope(getNames: () => readonly string[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const before = context.matchBefore(/"[\w.-]*/)
    if (!before && !context.explicit) return null
    const from = before?.from ?? context.pos
    const node = syntaxTree(context.state).resolveInner(context.pos, -1)
    const owner = findOwner(node)
    const path = pathOf(owner, context.state)
    const member = findMember(node, context)
    if (member !== undefined) return completeValue([...path, member], { from, getNames, context })
    const options: Completion[] = membersAt(path, givenIn(owner, node, context.state)).map(
      ({ name, insert, info }) => ({
        label: `"${name}"`,
        apply: `"${name}": ${insert}`,
        info,
        type: 'property',
      }),
    )
    return options.length > 0 ? { from, options } : null
  }
}

interface ValuePlace {
  readonly from: number
  readonly getNames: () => readonly string[]
  readonly context: CompletionContext
}

function completeValue(path: readonly string[], { from, getNames, context }: ValuePlace) {
  const member = path.at(-1) ?? ''
  const isType = isInSchema(path) && member === 'type' && !isFree(path.slice(0, -1))
  const fixed = isType ? types : isInSchema(path) ? [] : listValues(path)
  const free = named.has(member) || context.explicit ? getNames() : []
  const options = (fixed.length > 0 ? fixed : free).map((name) => ({
    label: `"${name}"`,
    apply: `"${name}"`,
    type: 'constant',
  }))
  return options.length > 0 ? { from, options } : null
}

/** The object around a place. */
function findOwner(node: SyntaxNode): SyntaxNode | undefined {
  for (let at: SyntaxNode | null = node; at; at = at.parent) if (at.name === 'Object') return at
  return undefined
}

/** The member whose value is being written; `undefined` where a name is. */
function findMember(node: SyntaxNode, { state, pos }: CompletionContext): string | undefined {
  for (let at: SyntaxNode | null = node; at && at.name !== 'Object'; at = at.parent) {
    if (at.name === 'PropertyName') return undefined
    if (at.name === 'Property') return nameOf(at, state)
  }
  // An unfinished value is no part of the tree yet.
  return /"([^"]+)"\s*:\s*(?:"[\w.-]*)?$/.exec(state.sliceDoc(Math.max(0, pos - 120), pos))?.[1]
}

/** The members that an object has, without the one at the cursor. */
function givenIn(owner: SyntaxNode | undefined, at: SyntaxNode, state: EditorState): Given {
  const given = new Map<string, string | undefined>()
  for (const property of owner?.getChildren('Property') ?? []) {
    if (property.from <= at.from && at.to <= property.to) continue
    const value = property.getChild('String')
    given.set(nameOf(property, state), value ? state.sliceDoc(value.from + 1, value.to - 1) : undefined)
  }
  return given
}

function nameOf(property: SyntaxNode, state: EditorState): string {
  const name = property.getChild('PropertyName')
  return name ? state.sliceDoc(name.from + 1, name.to - 1) : ''
}

/** Names of the members that lead to an object, without positions in lists. */
function pathOf(object: SyntaxNode | undefined, state: EditorState): string[] {
  const path: string[] = []
  for (let at: SyntaxNode | null = object ?? null; at; at = at.parent)
    if (at.name === 'Property') path.unshift(nameOf(at, state))
  return path
}

/** The range of the value at a JSON Pointer; the nearest that exists. */
export function findPointer(
  state: EditorState,
  pointer: string,
): { readonly from: number; readonly to: number } {
  const tokens = pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  let at: SyntaxNode | null = syntaxTree(state).topNode.firstChild
  for (const token of tokens) {
    const next: SyntaxNode | null = at && childOf(at, token, state)
    if (!next) break
    at = next
  }
  return at ? { from: at.from, to: Math.min(at.to, state.doc.lineAt(at.from).to) } : { from: 0, to: 0 }
}

function childOf(node: SyntaxNode, token: string, state: EditorState): SyntaxNode | null {
  if (node.name === 'Array') {
    const items = []
    for (let child = node.firstChild; child; child = child.nextSibling)
      if (child.name !== '[' && child.name !== ']') items.push(child)
    return items[Number(token)] ?? null
  }
  for (const property of node.getChildren('Property')) {
    const name = property.getChild('PropertyName')
    if (name && state.sliceDoc(name.from + 1, name.to - 1) === token) return property.lastChild
  }
  return null
}
