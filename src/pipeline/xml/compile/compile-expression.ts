/** Compiles `{{…}}`: a visible name, a part of its value, a literal, or a call, which is equivalent to `<call>`. */
import { closest } from '../../../base/closest.ts'
import type { TextRange } from '../../../base/errors/issue.ts'
import { child } from '../../../base/pointer.ts'
import type { Source } from '../../../domain/plan.ts'
import type { Expression } from '../parse/expression.ts'
import type { CallNode, ExpressionNode } from '../parse/template.ts'
import { compileCall } from './compile-call.ts'
import { type At, addNode, type Compiling, conforming, nothing, say } from './compile-context.ts'
import { literal, type NodeContext } from './draft-builder.ts'
import { fixed, follow, isFixed, knownAt, type Made, type Scope, type Value } from './value.ts'
import { valueId } from './value-capability.ts'

export function compileExpression(
  compiling: Compiling,
  { expression, range }: ExpressionNode,
  { scope, context }: { readonly scope: Scope; readonly context: NodeContext },
): Made {
  switch (expression.kind) {
    case 'literal':
      return conforming(compiling, { value: fixed(expression.value), exits: [] }, { context, range })
    case 'call':
      return compileCall(compiling, toCall(expression, range), { scope, context })
    case 'path': {
      const { name, path } = expression
      const value = scope.get(name)
      if (value === undefined) return unknown(compiling, name, { scope, range })
      const made =
        path.length === 0 ? { value, exits: [] } : getPart(compiling, value, { name, path, context, range })
      return conforming(compiling, made, { context, range })
    }
  }
}

function toCall({ template, args }: Extract<Expression, { kind: 'call' }>, range: TextRange): CallNode {
  return {
    kind: 'call',
    template,
    range,
    args: args.map((expression) => ({ range, value: { kind: 'expression', expression, range } })),
  }
}

function unknown(
  compiling: Compiling,
  name: string,
  { scope, range }: { readonly scope: Scope; readonly range: TextRange },
): Made {
  const meant = closest(name, scope.names)
  const visible =
    scope.names.length === 0 ? 'Nothing is visible here' : `Visible here: ${scope.names.join(', ')}`
  say(compiling, range, {
    code: 'template/unknown-name',
    message: `"${name.slice(0, 60)}" is not visible here`,
    hint:
      meant === undefined
        ? `${visible}; pass it as an input, an argument or an output_slot of an earlier step`
        : `Did you mean "${meant}"?`,
  })
  return nothing
}

interface Part extends At {
  readonly name: string
  readonly path: readonly string[]
}

/** Takes a part of a value: at compile time if the value is known, else by a node at run time. */
function getPart(compiling: Compiling, value: Value, part: Part): Made {
  const parts = compiling.parts.get(value) ?? new Map<string, Made>()
  compiling.parts.set(value, parts)
  const key = part.path.join('.')
  const known = parts.get(key)
  if (known) return known
  const sources = value.read()
  const made = isFixed(sources) ? knownPart(compiling, sources, part) : laterPart(compiling, sources, part)
  parts.set(key, made)
  return made
}

function knownPart(compiling: Compiling, [source]: readonly Source[], { name, path, range }: Part): Made {
  const whole = source && knownAt(source, compiling.inputs)
  const found = whole === undefined ? undefined : follow(whole, path)
  if (source === undefined || found === undefined) {
    say(compiling, range, {
      code: 'template/input',
      message: `"${name.slice(0, 60)}" has nothing at "${path.join('.').slice(0, 60)}"`,
      hint: 'Check the input that the run was given',
    })
    return nothing
  }
  const pointer = 'envelope' in source ? path.reduce<string>(child, source.envelope) : undefined
  // A length has no pointer in the input.
  if (pointer === undefined || path.at(-1) === 'length') return { value: fixed(found), exits: [] }
  return { value: { schema: { const: found }, read: () => [{ envelope: pointer }] }, exits: [] }
}

function laterPart(
  compiling: Compiling,
  sources: readonly Source[],
  { name, path, context, range }: Part,
): Made {
  const id = addNode(
    compiling,
    {
      name: [name, ...path].join('.'),
      capabilityId: valueId,
      inputs: new Map([
        ['value', sources],
        ['path', literal([...path])],
        ['name', literal(name)],
      ]),
    },
    { context, range },
  )
  return { value: { schema: true, read: () => [{ node: id, pointer: '/value' }] }, exits: [id] }
}
