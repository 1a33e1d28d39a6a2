/** What is known in a run: where a binding's value comes from, and what conditions may look at. */
import { isObject, type Json, own, setOwn } from '../base/json.ts'
import { type Pointer, tokens } from '../base/pointer.ts'
import type { Source } from '../domain/plan.ts'
import type { RunState } from '../domain/run.ts'

export interface Found {
  readonly value: Json
  readonly source: Source
}

/** An output that is not accepted yet, taken for the node's. */
export interface Tentative {
  readonly node: string
  readonly value: Json
}

/** The first source that exists. */
export function findValue(
  state: RunState,
  sources: readonly Source[],
  tentative?: Tentative,
): Found | undefined {
  for (const source of sources) {
    const value =
      tentative && 'node' in source && source.node === tentative.node
        ? at(tentative.value, source.pointer ?? '')
        : readSource(state, source)
    if (value !== undefined) return { value, source }
  }
  return undefined
}

function readSource(state: RunState, source: Source): Json | undefined {
  if ('value' in source) return source.value
  if ('envelope' in source) return at(state.envelope as unknown as Json, source.envelope)
  const node = state.nodes.get(source.node)
  if (node?.status !== 'completed' || node.output === undefined) return undefined
  return at(node.output.value, source.pointer ?? '')
}

function at(value: Json, pointer: Pointer): Json | undefined {
  let place: unknown = value
  for (const token of tokens(pointer)) {
    if (typeof place !== 'object' || place === null) return undefined
    place = own(place, token)
  }
  return place as Json | undefined
}

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

/** The input of a node: each bound property that has a value. */
export function assembleInputs(
  state: RunState,
  bindings: { readonly [property: string]: readonly Source[] },
  tentative?: Tentative,
): Json {
  const inputs: { [property: string]: Json } = {}
  for (const [property, sources] of Object.entries(bindings)) {
    const found = findValue(state, sources, tentative)
    if (found !== undefined) setOwn(inputs, property, found.value)
  }
  return inputs
}

/**
 * What conditions of policies and guards see: the envelope's inputs, and over them the members of every completed node's
 * output in the order of the plan, with the value at hand last.
 */
export function knownValues(state: RunState, latest?: Json): Json {
  const known: { [name: string]: Json } = {}
  const add = (value: unknown) => {
    if (isObject(value))
      for (const [name, member] of Object.entries(value)) setOwn(known, name, member as Json)
  }
  add(state.envelope.inputs)
  for (const node of state.nodes.values()) if (node.status === 'completed') add(node.output?.value)
  add(latest)
  return known
}
