/** What an envelope may contain, for completion: names by the path of their object. The server validates. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { syntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'
import type { SyntaxNode } from '@lezer/common'

interface Known {
  readonly [name: string]: readonly [insert: string, info: string]
}

const envelope: Known = {
  objective: ['""', 'what the run should achieve'],
  inputs: ['{}', 'values that capabilities may use'],
  outputContract: [
    '{ "schema": { "type": "object", "properties": {}, "required": [] } }',
    'contract of the answer',
  ],
  policies: ['{}', 'rules of the caller'],
  constraints: ['{}', 'limits of the run'],
  specialInstructions: ['[]', 'more for the planner and the agents'],
  metadata: ['{}', 'names and labels of the caller'],
}
const contract: Known = {
  schema: ['{ "type": "object", "properties": {}, "required": [] }', 'JSON Schema of the answer'],
  constraints: ['[]', 'conditions over the whole answer'],
  hints: ['{}', 'hints for the planner'],
  mode: ['"json_schema"', 'form of the contract'],
}
const policies: Known = {
  requiresHitlApproval: ['true', 'a person approves the answer'],
  hitlRequiredFor: ['[]', 'nodes whose output a person approves'],
  approvers: ['2', 'how many different people must approve'],
  runtime: ['[]', 'policies that act while the run proceeds'],
  planner: ['{}', 'how plans are made'],
}
const runtime: Known = {
  id: ['""', 'name of the policy'],
  trigger: ['{ "kind": "onNodeComplete" }', 'when it acts'],
  action: ['{ "type": "hitl", "question": "" }', 'what it does'],
  selector: ['{ "capabilityId": "" }', 'which nodes it is about'],
  rao: ['{ "autoApproveAbove": 0.9 }', 'thresholds of confidence'],
  enabled: ['true', 'whether it acts'],
}
const constraints: Known = {
  maxTokens: ['20000', 'tokens of the whole run'],
  maxCalls: ['20', 'calls of models'],
  maxCostUsd: ['1', 'cost of the whole run'],
  deadlineMs: ['600000', 'from start to end'],
  requiredCapabilities: ['[]', 'capabilities that the plan must use'],
}
const schema: Known = {
  type: ['"string"', 'type of the value'],
  properties: ['{}', 'members of an object'],
  required: ['[]', 'members that must be there'],
  items: ['{}', 'schema of the items'],
  enum: ['[]', 'allowed values'],
  description: ['""', 'what is meant, for models and people'],
  title: ['""', 'label in forms'],
  minLength: ['1', 'shortest text'],
  maxLength: ['200', 'longest text'],
  minimum: ['0', 'least number'],
  maximum: ['100', 'greatest number'],
  minItems: ['1', 'fewest items'],
  maxItems: ['10', 'most items'],
  additionalProperties: ['false', 'whether other members are allowed'],
}

function knownAt(path: readonly string[]): Known | undefined {
  const [first, second, third] = path
  if (first === undefined) return envelope
  if (first === 'outputContract' && second === 'schema')
    return path.at(-1) === 'properties' ? undefined : schema
  if (first === 'outputContract') return second === undefined ? contract : undefined
  if (first === 'constraints') return second === undefined ? constraints : undefined
  if (first !== 'policies') return undefined
  if (second === undefined) return policies
  return second === 'runtime' && third === undefined ? runtime : undefined
}

/** Completes names of members, and the ids of capabilities and facets in values. */
export function completeEnvelope(getNames: () => readonly string[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const before = context.matchBefore(/"[\w.-]*/)
    if (!before && !context.explicit) return null
    const node = syntaxTree(context.state).resolveInner(context.pos, -1)
    const owner = findObject(node)
    const isValue =
      node.name === 'String' ||
      /:\s*"[\w.-]*$/.test(context.state.sliceDoc(Math.max(0, context.pos - 80), context.pos))
    const from = before?.from ?? context.pos
    if (isValue && node.name !== 'PropertyName')
      return {
        from,
        options: getNames().map((name) => ({ label: `"${name}"`, apply: `"${name}"`, type: 'constant' })),
      }
    const known = knownAt(pathOf(owner, context.state))
    if (!known) return null
    const options: Completion[] = Object.entries(known).map(([name, [insert, info]]) => ({
      label: `"${name}"`,
      apply: `"${name}": ${insert}`,
      info,
      type: 'property',
    }))
    return { from, options }
  }
}

function findObject(node: SyntaxNode): SyntaxNode | undefined {
  for (let at: SyntaxNode | null = node; at; at = at.parent) if (at.name === 'Object') return at
  return undefined
}

/** Names of the members that lead to an object, without positions in lists. */
function pathOf(object: SyntaxNode | undefined, state: EditorState): string[] {
  const path: string[] = []
  for (let at: SyntaxNode | null = object ?? null; at; at = at.parent) {
    const name = at.name === 'Property' ? at.getChild('PropertyName') : null
    if (name) path.unshift(state.sliceDoc(name.from + 1, name.to - 1))
  }
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
