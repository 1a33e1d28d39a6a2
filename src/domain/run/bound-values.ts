/** Where the value of a binding comes from in a run. */
import { type Json, setOwn } from '../../base/json.ts'
import { valueAt } from '../../base/pointer.ts'
import type { Source } from '../plan.ts'
import type { RunState } from '../run.ts'

type Known = Pick<RunState, 'envelope' | 'nodes'>

interface Found {
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
  state: Known,
  sources: readonly Source[],
  tentative?: Tentative,
): Found | undefined {
  for (const source of sources) {
    const value =
      tentative && 'node' in source && source.node === tentative.node
        ? valueAt(tentative.value, source.pointer ?? '')
        : readSource(state, source)
    if (value !== undefined) return { value, source }
  }
  return undefined
}

function readSource(state: Known, source: Source): Json | undefined {
  if ('value' in source) return source.value
  if ('envelope' in source) return valueAt(state.envelope as unknown as Json, source.envelope)
  // Bodies do not run: their instances do, in which every such source has become a value.
  if ('input' in source) return undefined
  const node = state.nodes.get(source.node)
  if (node?.status !== 'completed' || node.output === undefined) return undefined
  return valueAt(node.output.value, source.pointer ?? '')
}

/** The input of a node: each bound property that has a value. */
export function assembleInputs(
  state: Known,
  bindings: { readonly [property: string]: readonly Source[] },
  tentative?: Tentative,
): { readonly [property: string]: Json } {
  const inputs: { [property: string]: Json } = {}
  for (const [property, sources] of Object.entries(bindings)) {
    const found = findValue(state, sources, tentative)
    if (found !== undefined) setOwn(inputs, property, found.value)
  }
  return inputs
}

export function describeSource(source: Source): string {
  if ('node' in source) return `node "${source.node}"${source.pointer ? ` at ${source.pointer}` : ''}`
  if ('input' in source) return `the input of the body at ${source.input}`
  return 'value' in source ? 'a fixed value' : `the envelope at ${source.envelope}`
}

/** What an output binding yields, whole or by property; undefined when no source of the whole has a value. */
export function composeOutput(
  state: Known,
  output: readonly Source[] | { readonly properties: { readonly [property: string]: readonly Source[] } },
): Json | undefined {
  return 'properties' in output ? assembleInputs(state, output.properties) : findValue(state, output)?.value
}
