/** Compiles `<cond>`: a routing node, followed by the cases, one of which is taken. */
import type { Condition } from '../../../domain/contract.ts'
import type { Route, Source } from '../../../domain/plan.ts'
import type { CaseNode, CondNode } from '../parse/template.ts'
import { readTest } from './case-test.ts'
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
    const condition = testOf(compiling, each, { around, inputs, index })
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
  return { value: eitherOf(values), exits }
}

/** The condition of a case; the values that it reads become inputs of the routing node. */
function testOf(
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

function eitherOf(values: readonly Value[]): Value {
  const schemas = values.map(({ schema }) => schema)
  return {
    schema: schemas.length > 1 ? { anyOf: schemas } : (schemas[0] ?? true),
    read: () => values.flatMap((value) => value.read()),
  }
}
