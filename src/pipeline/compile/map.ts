/** `kind: map`: the body once for each item of a list, side by side, unrolled up to its bound; the output is the list of outputs. */

import { anyOf, listOf } from '../made-schemas.ts'
import type { MapStep } from '../pipeline.ts'
import { asTemplate } from '../templates.ts'
import {
  addFunction,
  asBinding,
  type CompileSteps,
  type ContextEntry,
  complain,
  isFull,
  nodeValue,
  type Scope,
} from './build.ts'
import { addRefusal, compileBranch } from './conditional.ts'
import { functionId } from './functions.ts'
import { addGate, addRouter } from './gate.ts'
import { templateValue } from './names.ts'
import { constant, inside, type Value } from './value.ts'

export function compileMap(scope: Scope, step: MapStep, compileSteps: CompileSteps): Value | undefined {
  const id = `${scope.prefix}${step.name}`
  const at = `${step.at}/map/iterable_input`
  const over = templateValue(scope, asTemplate(step.over), { at, id: `${id}.items` })
  if (over === undefined) return undefined
  const item = inside(over, ['0'])
  if ('absent' in item && !isEmptyList(over)) {
    complain(scope, at, {
      code: 'pipeline/map',
      message: `${step.over} is no list`,
      hint: 'A map goes over a list',
    })
    return undefined
  }
  const router = addRouter(scope, `${id}.each`)
  const items = router.see(over)
  const schema = 'absent' in item ? true : item.known ? true : item.schema
  const count =
    over.known && Array.isArray(over.known.value)
      ? Math.min(over.known.value.length, step.maxItems)
      : step.maxItems
  const ends: { value: Value; tails: readonly string[]; added: readonly ContextEntry[]; begin: string }[] = []
  for (let index = 0; index < count; index++) {
    const gate = addGate(scope, router, `${id}/${index}`)
    const own = gate.bind('item', { node: router.node.id, pointer: `/${items}/${index}` }, schema)
    const locals = new Map([
      ['item', own],
      ['index', constant(index)],
    ])
    const branch = { gate, prefix: `${id}/${index}/`, steps: step.body, locals, previous: own }
    ends.push({ ...compileBranch(scope, branch, compileSteps), begin: gate.begin })
    if (scope.build.issues.length > 0 || isFull(scope.build)) break
  }
  const none = `${id}/none`
  scope.build.nodes.push({
    id: none,
    kind: 'branch',
    capabilityId: functionId('pass'),
    inputs: {},
    contracts: { output: { type: 'object' } },
  })
  const length = { var: `${items}.length` }
  router.route({ '==': [length, 0] }, [none], '0 items')
  for (let n = 1; n <= ends.length; n++)
    router.route(
      { '==': [length, n] },
      ends.slice(0, n).map(({ begin }) => begin),
      `${n} items`,
    )
  const output = listOf(anyOf(ends.map(({ value }) => value.schema)), step.maxItems)
  const message = `${step.name} goes over at most ${step.maxItems} items (max_items), and its input is longer or no list`
  const hint = 'Raise max_items of the map, or give it a shorter list'
  const refusal = addRefusal(scope, router, { id: `${id}/too-many`, message, hint, output })
  scope.tails = [...ends.flatMap(({ tails }) => tails), none, refusal]
  scope.context = [...scope.context, ...ends.flatMap(({ added }) => added)]
  const inputs = Object.fromEntries(ends.map(({ value }, index) => [`i${index}`, asBinding(value)]))
  return nodeValue(addFunction(scope, { id, name: 'list', inputs, output }), output, scope.region)
}

function isEmptyList({ known }: Value): boolean {
  return Array.isArray(known?.value) && known.value.length === 0
}
