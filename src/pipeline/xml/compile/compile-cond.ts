/** Compiles `<cond>`: a routing node, followed by the cases, one of which is taken; and parses the tests of the cases. */
import type { Json } from '../../../base/json.ts'
import type { Condition } from '../../../domain/contract.ts'
import type { Route, Source } from '../../../domain/plan.ts'
import { parseCondition } from '../../../schema/condition/condition.ts'
import { type Expression, type ExpressionError, readExpression } from '../parse/expression.ts'
import type { CaseNode, CondNode } from '../parse/template.ts'
import { type Compiling, handedOn, say } from './compile-context.ts'
import { compileExpression } from './compile-expression.ts'
import type { Gate, NodeContext } from './draft-builder.ts'
import { gated, type Made, type Scope, type Value } from './value.ts'

interface Around {
  readonly scope: Scope
  readonly context: NodeContext
}

export function compileCond(compiling: Compiling, cond: CondNode, around: Around): Made {
  const { scope, context } = around
  const { builder } = compiling
  const router = builder.reserve(cond.outputSlot ?? 'cond', context.prefix)
  const inputs = new Map<string, readonly Source[]>()
  const exits: string[] = []
  const values: Value[] = []
  const routes: Route[] = []
  let elseTo: string[] | undefined
  for (const [index, each] of cond.cases.entries()) {
    const condition = toTest(compiling, each, { around, inputs, index })
    const gate: Gate = { router, targets: new Set() }
    const inside: NodeContext = { ...context, prefix: `${router}.`, after: [router], gate }
    let made = compiling.compile(each.body, gated(scope, router, inputs), inside)
    // A value that needs no node gets one here, because a route must lead to a node.
    if (made.exits.length === 0)
      made = handedOn(compiling, made.value, {
        context: inside,
        range: each.range,
        name: 'value',
        schema: made.value.schema,
      })
    exits.push(...made.exits)
    values.push(made.value)
    const to = [...gate.targets]
    if (condition === undefined) elseTo = to
    else routes.push({ condition, to, label: `case ${index + 1}` })
  }
  const names = [...inputs.keys()]
  const contract = { type: 'object', required: names } as const
  builder.addAs(
    router,
    {
      kind: 'routing',
      inputs,
      contracts: {
        input: contract,
        output: { ...contract, properties: Object.fromEntries(names.map((name) => [name, true])) },
      },
      routing: { routes, ...(elseTo && { elseTo }) },
    },
    context,
  )
  return { value: joinValues(values), exits }
}

/** The condition of a case; the values that it reads become inputs of the routing node. */
function toTest(
  compiling: Compiling,
  { test }: CaseNode,
  { around, inputs, index }: { around: Around; inputs: Map<string, readonly Source[]>; index: number },
): Condition | undefined {
  if (test === undefined) return undefined
  const read = readTest(test.text, `case${index + 1}`)
  if (!read.ok) {
    const { message, hint, at } = read.error
    say(compiling, test.range, {
      code: 'template/test',
      message: `the test cannot be read at character ${at + 1}: ${message}`,
      ...(hint !== undefined && { hint }),
    })
    return true
  }
  const { wanted: _ofTheResult, ...context } = around.context
  for (const { name, expression } of read.operands) {
    const made = compileExpression(
      compiling,
      { kind: 'expression', expression, range: test.range },
      { ...around, context },
    )
    inputs.set(name, made.value.read())
  }
  return read.condition
}

function joinValues(values: readonly Value[]): Value {
  const schemas = values.map(({ schema }) => schema)
  return {
    schema: schemas.length > 1 ? { anyOf: schemas } : (schemas[0] ?? true),
    read: () => values.flatMap((value) => value.read()),
  }
}

// Parses the test of a `<case>`, such as `{{size}} > 10 and not {{name}} == "a"`, into a condition (recursive descent). `lt`, `le`, `gt`, `ge`, `eq` and `ne` exist because `<` must be escaped in XML.

/** A value that the condition reads, under the first name of its path. */
interface Operand {
  readonly name: string
  /** Without the path below the name: the condition contains that. */
  readonly expression: Expression
}

type ReadTest =
  | { readonly ok: true; readonly condition: Condition; readonly operands: readonly Operand[] }
  | { readonly ok: false; readonly error: ExpressionError }

/** `prefix` keeps the names generated for calls distinct from those of other tests. */
export function readTest(text: string, prefix = 'test'): ReadTest {
  const reading: Reading = { text, at: 0, depth: 0, prefix, operands: new Map() }
  try {
    const condition = readOr(reading)
    skip(reading)
    if (reading.at < text.length) throw new Fault(reading.at, 'and, or or the end of the test is wanted here')
    const parsed = parseCondition(condition)
    if (!parsed.ok)
      throw new Fault(0, parsed.issues[0]?.message ?? 'it is no condition', parsed.issues[0]?.hint)
    return { ok: true, condition: condition as Condition, operands: [...reading.operands.values()] }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { at, message, hint } = error
    return { ok: false, error: { at, message, ...(hint !== undefined && { hint }) } }
  }
}

interface Reading {
  readonly text: string
  readonly prefix: string
  readonly operands: Map<string, Operand>
  at: number
  depth: number
}

/** Internal to `readTest`, which converts it to a result. */
class Fault extends Error {
  readonly at: number
  readonly hint: string | undefined

  constructor(at: number, message: string, hint?: string) {
    super(message)
    this.at = at
    this.hint = hint
  }
}

const deepest = 16

function readOr(reading: Reading): Json {
  return readJoined(reading, { operator: 'or', word: /(?:or\b|\|\|)/y, read: readAnd })
}

function readAnd(reading: Reading): Json {
  return readJoined(reading, { operator: 'and', word: /(?:and\b|&&)/y, read: readNot })
}

interface Join {
  readonly operator: 'and' | 'or'
  readonly word: RegExp
  readonly read: (reading: Reading) => Json
}

function readJoined(reading: Reading, { operator, word, read }: Join): Json {
  const parts = [read(reading)]
  while (take(reading, word) !== undefined) parts.push(read(reading))
  return parts.length === 1 ? (parts[0] as Json) : { [operator]: parts }
}

function readNot(reading: Reading): Json {
  if (++reading.depth > deepest)
    throw new Fault(reading.at, `a test may be nested ${deepest} deep; this is deeper`)
  try {
    if (take(reading, /(?:not\b|!(?!=))/y) !== undefined) return { '!': readNot(reading) }
    if (take(reading, /\(/y) === undefined) return readComparison(reading)
    const inner = readOr(reading)
    if (take(reading, /\)/y) === undefined) throw new Fault(reading.at, '")" is wanted here')
    return inner
  } finally {
    reading.depth--
  }
}

const comparisons: Readonly<Record<string, string>> = {
  '==': '==',
  '!=': '!=',
  '<=': '<=',
  '>=': '>=',
  '<': '<',
  '>': '>',
  eq: '==',
  ne: '!=',
  le: '<=',
  ge: '>=',
  lt: '<',
  gt: '>',
  in: 'in',
}

function readComparison(reading: Reading): Json {
  if (take(reading, /missing\s*\(/y) !== undefined) {
    const operand = readOperand(reading)
    const path =
      typeof operand === 'object' && operand !== null && 'var' in operand ? operand['var'] : undefined
    if (path === undefined || take(reading, /\)/y) === undefined)
      throw new Fault(reading.at, 'missing takes one name: missing(x)')
    return { missing: path }
  }
  const left = readOperand(reading)
  const word = take(reading, /(?:[=!<>]=|[<>]|(?:eq|ne|le|ge|lt|gt|in)\b)/y)
  const operator = word === undefined ? undefined : comparisons[word]
  if (operator !== undefined) return { [operator]: [left, readOperand(reading)] }
  if (take(reading, /=/y) !== undefined)
    throw new Fault(reading.at, 'a single = compares nothing', 'Write ==')
  return left
}

function readOperand(reading: Reading): Json {
  const start = reading.at
  if (take(reading, /\[/y) !== undefined) return readList(reading)
  const braced = take(reading, /\{\{[^{}]*\}\}/y)
  const bare =
    braced ??
    take(
      reading,
      /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*/y,
    )
  if (bare === undefined)
    throw new Fault(reading.at, 'a name, a text in quotes, a number, true, false or null is wanted here')
  const read = readExpression(braced === undefined ? bare : bare.slice(2, -2))
  if (!read.ok) throw new Fault(start, read.error.message, read.error.hint)
  return toOperand(read.expression, reading)
}

function toOperand(expression: Expression, reading: Reading): Json {
  const { operands, prefix } = reading
  if (expression.kind === 'literal') return expression.value
  if (expression.kind === 'path') {
    const { name, path } = expression
    operands.set(name, { name, expression: { kind: 'path', name, path: [] } })
    return { var: [name, ...path].join('.') }
  }
  const name = `${prefix}_call${operands.size + 1}`
  operands.set(name, { name, expression })
  return { var: name }
}

function readList(reading: Reading): Json {
  const items: Json[] = []
  if (take(reading, /\]/y) !== undefined) return items
  for (;;) {
    const at = reading.at
    const item = readOperand(reading)
    if (typeof item === 'object' && item !== null) throw new Fault(at, 'a list holds plain values')
    items.push(item)
    if (take(reading, /\]/y) !== undefined) return items
    if (take(reading, /,/y) === undefined) throw new Fault(reading.at, '"," or "]" is wanted here')
  }
}

function skip(reading: Reading): void {
  while (/\s/.test(reading.text[reading.at] ?? '')) reading.at++
}

/** Consumes a pattern at the current position, after optional space. */
function take(reading: Reading, pattern: RegExp): string | undefined {
  skip(reading)
  pattern.lastIndex = reading.at
  const found = pattern.exec(reading.text)?.[0]
  if (found !== undefined) reading.at += found.length
  return found
}
