/** Builds the values that conditions are evaluated on. */
import { isObject, type Json, setOwn } from '../../../base/json.ts'
import { assembleInputs, findValue, type Tentative } from '../../../domain/run/bound-values.ts'
import type { NodeState, RunState } from '../../../domain/run.ts'

/** Values for the caller's constraints: the answer as far as it is known, merged over the values that only constraints need. */
export function answerValues(state: RunState, tentative?: Tentative): Json {
  const { output = [], aside = {} } = state.plan ?? {}
  const beside = assembleInputs(state, aside, tentative)
  const answer =
    'properties' in output
      ? assembleInputs(state, output.properties, tentative)
      : findValue(state, output, tentative)?.value
  return withAnswer(beside, answer)
}

/** Merges the answer over the values beside it; an answer that is not an object is returned alone. */
export function withAnswer(beside: Json, answer: Json | undefined): Json {
  if (answer !== undefined && !isObject(answer)) return answer
  const values: { [name: string]: Json } = {}
  for (const part of [beside, answer])
    if (isObject(part)) for (const [name, value] of Object.entries(part)) setOwn(values, name, value as Json)
  return values
}

/**
 * Values for conditions of policies and guards: the envelope's inputs, overridden by the members of every completed node's
 * output in plan order, and last by the current value. An item or a round sees its own nodes, not those of its siblings.
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
