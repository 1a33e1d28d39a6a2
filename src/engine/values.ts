/** What conditions may look at in a run. */
import { isObject, type Json, setOwn } from '../base/json.ts'
import { assembleInputs, findValue, type Tentative } from '../domain/bound-values.ts'
import type { NodeState, RunState } from '../domain/run.ts'

/** What constraints of the caller look at: the answer as far as it is known, and beside it what only they need. */
export function answerValues(state: RunState, tentative?: Tentative): Json {
  const { output = [], aside = {} } = state.plan ?? {}
  const beside = assembleInputs(state, aside, tentative)
  const answer =
    'properties' in output
      ? assembleInputs(state, output.properties, tentative)
      : findValue(state, output, tentative)?.value
  return withAnswer(beside, answer)
}

/** The answer with what stands beside it; one that is no object stands for itself. */
export function withAnswer(beside: Json, answer: Json | undefined): Json {
  if (answer !== undefined && !isObject(answer)) return answer
  const values: { [name: string]: Json } = {}
  for (const part of [beside, answer])
    if (isObject(part)) for (const [name, value] of Object.entries(part)) setOwn(values, name, value as Json)
  return values
}

/**
 * What conditions of policies and guards see: the envelope's inputs, and over them the members of every completed node's
 * output in the order of the plan, with the value at hand last. An item or a round sees its own nodes, and not its siblings'.
 */
export function knownValues(state: RunState, latest?: Json, viewer?: NodeState): Json {
  const known: { [name: string]: Json } = {}
  const add = (value: unknown) => {
    if (isObject(value))
      for (const [name, member] of Object.entries(value)) setOwn(known, name, member as Json)
  }
  add(state.envelope.inputs)
  for (const node of state.nodes.values())
    if (node.status === 'completed' && isSeen(node, viewer)) add(node.output?.value)
  add(latest)
  return known
}

function isSeen({ instance }: NodeState, viewer: NodeState | undefined): boolean {
  if (instance === undefined || instance === viewer?.instance) return true
  return viewer?.instance?.startsWith(`${instance}.`) ?? false
}
