/**
 * Compiles an expression to the condition that it means. A part without a counterpart among the operators of conditions is
 * an issue with its range: nothing is evaluated in another way than conditions are.
 */
import type { TextRange } from '../../base/errors/issue.ts'
import { isObject, type Json } from '../../base/json.ts'
import { tokens } from '../../base/pointer.ts'
import type { Condition } from '../../domain/contract.ts'
import { parseCondition } from '../../schema/condition/condition.ts'
import type { ConditionIssueCode } from '../../schema/issue-table.ts'
import { ExpressionFault, type ExpressionNode, parseExpression } from './parse-expression.ts'

interface ExpressionIssue {
  readonly code: 'pipeline/expression' | ConditionIssueCode
  readonly message: string
  readonly hint?: string
  /** Of the text of the expression. */
  readonly range: TextRange
}

export type CompiledExpression =
  | { readonly ok: true; readonly condition: Condition }
  | { readonly ok: false; readonly issues: readonly ExpressionIssue[] }

/**
 * @example
 * compileExpression('input.score >= 0.8 && !input.draft')
 * // { and: [{ '>=': [{ var: 'input.score' }, 0.8] }, { '!': [{ var: 'input.draft' }] }] }
 */
export function compileExpression(text: string): CompiledExpression {
  const ranges = new Map<object, TextRange>()
  try {
    const condition = compile(parseExpression(text), { ranges, bound: [] })
    const parsed = parseCondition(condition)
    if (parsed.ok) return { ok: true, condition: condition as Condition }
    const issues = parsed.issues.map(({ code, at, message, hint }) => ({
      code,
      message,
      ...(hint !== undefined && { hint: toExpressionHint(hint) }),
      range: findRange(condition, { pointer: 'pointer' in at ? at.pointer : '', ranges, text }),
    }))
    return { ok: false, issues }
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error
    return { ok: false, issues: [{ code: 'pipeline/expression', ...error.error }] }
  }
}

/** Hints of conditions are about JSON-Logic. */
function toExpressionHint(hint: string): string {
  return hint.replace('{ "var": … }', 'a path').replace(/ or write an operator$/, ' for example with ==')
}

/** The range of the innermost part that a pointer into the condition leads through. */
function findRange(
  condition: Json,
  { pointer, ranges, text }: { pointer: string; ranges: ReadonlyMap<object, TextRange>; text: string },
): TextRange {
  let found: TextRange = [0, text.length]
  let part: Json | undefined = condition
  for (const token of [...tokens(pointer), undefined]) {
    if (typeof part !== 'object' || part === null) return found
    found = ranges.get(part) ?? found
    if (token !== undefined) part = (part as Readonly<Record<string, Json>>)[token]
  }
  return found
}

interface Scope {
  readonly ranges: Map<object, TextRange>
  /** Variables of the quantifiers around, the innermost last. */
  readonly bound: readonly string[]
}

function compile(node: ExpressionNode, scope: Scope): Json {
  const made = compilePart(node, scope)
  if (isObject(made)) scope.ranges.set(made, node.range)
  return made
}

function compilePart(node: ExpressionNode, scope: Scope): Json {
  switch (node.kind) {
    case 'literal':
      return node.value
    case 'list':
      return node.items.map((item) => toLiteral(item))
    case 'name':
    case 'member':
      return { var: toPath(node, scope) }
    case 'not':
      return { '!': [compile(node.operand, scope)] }
    case 'binary':
      return compileBinary(node, scope)
    case 'call':
      return compileCall(node, scope)
  }
}

function toLiteral(node: ExpressionNode): Json {
  if (node.kind === 'literal') return node.value
  if (node.kind === 'list') return node.items.map(toLiteral)
  throw refuse(
    node,
    'a list that is written out holds literals only',
    'Compare the values one by one with ==',
  )
}

const names = { '&&': 'and', '||': 'or' } as const

function compileBinary(node: Extract<ExpressionNode, { kind: 'binary' }>, scope: Scope): Json {
  const { operator, left, right } = node
  if (operator === '&&' || operator === '||')
    return { [names[operator]]: listOperands(node, operator).map((each) => compile(each, scope)) }
  // Lists of conditions hold literals; a list with paths is one comparison per element.
  if (operator === 'in' && right.kind === 'list' && !right.items.every(isLiteral))
    return { or: right.items.map((item) => ({ '==': [compile(left, scope), compile(item, scope)] })) }
  if (operator === 'in' && right.kind === 'literal')
    throw refuse(right, 'the right side of in is a list', 'Write text.contains("part") for parts of texts')
  // Not `in`, which also finds parts of texts. Inside a quantifier `var` would name its elements, so literals only.
  if (operator === 'in' && right.kind !== 'list' && isLiteral(left))
    return { some: [compile(right, scope), { '==': [{ var: '' }, compile(left, scope)] }] }
  // Of two paths, `in` counts only where the second leads to a list with elements.
  if (operator === 'in' && right.kind !== 'list') {
    const list = compile(right, scope)
    return { and: [{ some: [list, true] }, { in: [compile(left, scope), list] }] }
  }
  return { [operator]: [compile(left, scope), compile(right, scope)] }
}

function isLiteral(node: ExpressionNode): boolean {
  return node.kind === 'literal' || (node.kind === 'list' && node.items.every(isLiteral))
}

/** `a && b && c` as one list: nesting would count against the depth limit of conditions. */
function listOperands(node: ExpressionNode, operator: '&&' | '||'): readonly ExpressionNode[] {
  const operands: ExpressionNode[] = []
  let rest = node
  while (rest.kind === 'binary' && rest.operator === operator) {
    operands.unshift(rest.right)
    rest = rest.left
  }
  return [rest, ...operands]
}

type Call = Extract<ExpressionNode, { kind: 'call' }>

/** What the functions take, for messages. */
const usage: Readonly<Record<string, string>> = {
  has: 'has(path.to.member)',
  size: 'size(list) or list.size()',
  contains: 'text.contains("part")',
  exists: 'list.exists(x, x.score > 0.5)',
  all: 'list.all(x, x.score > 0.5)',
}

function compileCall(node: Call, scope: Scope): Json {
  const { name, target, args } = node
  const [first, second] = args
  if (name === 'has' && !target && first && args.length === 1) {
    if (first.kind !== 'member') throw refuse(first, 'has takes a path with a member', usage['has'])
    return { '!': [{ missing: [toPath(first, scope)] }] }
  }
  const sized = target && args.length === 0 ? target : !target && args.length === 1 ? first : undefined
  if (name === 'size' && sized) {
    if (sized.kind === 'list') return sized.items.length
    return { var: `${toPath(sized, scope)}.length` }
  }
  if (name === 'contains' && target && first && args.length === 1)
    return { in: [compile(first, scope), compile(target, scope)] }
  if ((name === 'exists' || name === 'all') && target && first && second && args.length === 2)
    return compileQuantifier({ name, target, variable: first, body: second }, scope)
  const known = Object.hasOwn(usage, name) ? usage[name] : undefined
  throw refuse(
    node,
    known === undefined ? `function "${name}" not found` : `${name} is not called this way`,
    known === undefined ? `There are ${Object.values(usage).join(', ')}` : `Write ${known}`,
  )
}

interface Quantifier {
  readonly name: 'exists' | 'all'
  readonly target: ExpressionNode
  readonly variable: ExpressionNode
  readonly body: ExpressionNode
}

function compileQuantifier({ name, target, variable, body }: Quantifier, scope: Scope): Json {
  if (variable.kind !== 'name')
    throw refuse(variable, `the first argument of ${name} is the name of an element`, `Write ${usage[name]}`)
  const list = compile(target, scope)
  const held = compile(body, { ...scope, bound: [...scope.bound, variable.name] })
  if (name === 'exists') return { some: [list, held] }
  // Other than `all` of conditions, `all` of expressions holds for an empty list; neither does for anything but a list.
  const none: Json = { none: [list, { '!': [held] }] }
  if (Array.isArray(list)) return none
  return { and: [{ '>=': [{ var: `${toPath(target, scope)}.length` }, 0] }, none] }
}

function toPath(node: ExpressionNode, scope: Scope): string {
  const path: string[] = []
  let root = node
  for (; root.kind === 'member'; root = root.of) path.unshift(root.name)
  if (root.kind !== 'name')
    throw refuse(root, 'a path begins with a name', 'Paths begin with input, steps, context or previous_step')
  const { bound } = scope
  if (root.name === bound.at(-1)) return ['item', ...path].join('.')
  if (bound.includes(root.name))
    throw refuse(
      root,
      `"${root.name}" is an element of an outer list, which conditions cannot read here`,
      'Use only the element of the innermost exists or all',
    )
  if (bound.length > 0 && root.name === 'item')
    throw refuse(
      root,
      'item of the map cannot be read inside exists and all',
      'Compare it outside, or pass the value on under another name in a step before',
    )
  return [root.name, ...path].join('.')
}

function refuse({ range }: ExpressionNode, message: string, hint?: string): ExpressionFault {
  return new ExpressionFault({ message, range, ...(hint !== undefined && { hint }) })
}
