/** `kind: loop`: the body again and again until its condition holds, unrolled up to its bound; the output is that of the last round. */

import { anyOf } from '../made-schemas.ts'
import type { LoopStep } from '../pipeline.ts'
import {
  addFunction,
  asBinding,
  type CompileSteps,
  type ContextEntry,
  innerScope,
  isFull,
  nodeValue,
  type Scope,
} from './build.ts'
import { addRefusal, compileBranch, conditionAt } from './conditional.ts'
import { addGate, addRouter } from './gate.ts'
import { constant, type Value } from './value.ts'

interface Round {
  readonly value: Value
  /** The scope at its end. */
  readonly end: Scope
}

export function compileLoop(scope: Scope, step: LoopStep, compileSteps: CompileSteps): Value | undefined {
  const id = `${scope.prefix}${step.name}`
  const first = firstRound(scope, step, compileSteps)
  const rounds = [first]
  const context: ContextEntry[] = []
  const leaving: string[] = []
  for (let n = 1; n < step.maxLoops; n++) {
    const before = rounds[n - 1] as Round
    if (scope.build.issues.length > 0 || isFull(scope.build)) {
      // No more rounds are needed to refuse the pipeline; what this one puts into the context is there all the same.
      scope.context = [...first.end.context, ...context]
      return undefined
    }
    const router = addRouter(before.end, `${id}/${n}.again`)
    const gate = addGate(before.end, router, `${id}/${n + 1}`)
    if (step.exitCondition === undefined) router.route(true, [gate.begin], 'again')
    else {
      const condition = conditionAt(before.end, router, {
        json: step.exitCondition,
        at: `${step.at}/loop/exit_condition`,
      })
      router.route(condition, [id], 'done')
      leaving.push(router.node.id)
    }
    router.otherwise([gate.begin])
    const locals = new Map([['iteration', constant(n + 1)]])
    const branch = { gate, prefix: `${id}/${n + 1}/`, steps: step.body, locals, previous: before.value }
    const { value, inner, added } = compileBranch(before.end, branch, compileSteps)
    context.push(...added.map((entry) => ({ ...entry, value: { ...entry.value, home: scope.region } })))
    rounds.push({ value, end: inner })
  }
  const last = rounds.at(-1) as Round
  const output = anyOf(rounds.map(({ value }) => value.schema))
  let tails = last.end.tails
  if (step.exitCondition !== undefined && step.onMaxLoops === 'fail') {
    const router = addRouter(last.end, `${id}/${rounds.length}.again`)
    const condition = conditionAt(last.end, router, {
      json: step.exitCondition,
      at: `${step.at}/loop/exit_condition`,
    })
    router.route(condition, [id], 'done')
    leaving.push(router.node.id)
    const message = `${step.name} has gone ${step.maxLoops} rounds (max_loops) and its exit_condition does not hold`
    const hint = 'Raise max_loops, ask less of exit_condition, or say on_max_loops: accept'
    tails = [addRefusal(scope, router, { id: `${id}/not-done`, message, hint, output })]
  }
  scope.context = [...first.end.context, ...context]
  scope.tails = [...leaving, ...tails]
  const value = {
    sources: [...rounds].reverse().flatMap((round) => round.value.sources),
    schema: output,
    certain: true,
    home: scope.region,
  }
  const node = addFunction(scope, { id, name: 'take', inputs: { value: asBinding(value) }, output })
  return nodeValue(node, output, scope.region)
}

/** The first round is always gone. */
function firstRound(scope: Scope, step: LoopStep, compileSteps: CompileSteps): Round {
  const end = innerScope(scope, {
    prefix: `${scope.prefix}${step.name}/1/`,
    locals: new Map([...scope.locals, ['iteration', constant(1)]]),
  })
  return { value: compileSteps(end, step.body), end }
}
