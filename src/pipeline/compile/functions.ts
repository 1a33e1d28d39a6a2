/**
 * The functions behind nodes that the compiler generates: pure functions of their inputs, the same for every
 * pipeline.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, type Json, own, setOwn } from '../../base/json.ts'
import type { Capability } from '../../domain/capability.ts'
import { renderValue } from '../templates/templates.ts'

/** A capability with its function. */
export interface PipelineCapability {
  readonly capability: Capability
  readonly run?: (inputs: Json) => Json
}

type Members = { readonly [name: string]: Json }

const functions: Readonly<Record<string, { summary: string; run: (inputs: Members) => Json }>> = {
  render: {
    summary: 'Fills values into the templates of a step.',
    run: ({ template = null, paths = {}, ...values }) =>
      renderValue(template, (path) => {
        const name = own(paths as object, JSON.stringify(path))
        return typeof name === 'string' ? (own(values, name) as Json | undefined) : undefined
      }),
  },
  pass: { summary: 'Hands on what it is given.', run: (inputs) => inputs },
  take: { summary: 'Hands on one value.', run: ({ value = null }) => value },
  gather: {
    summary: 'Takes the outputs of a map apart: the values, and what the last item has put into the context.',
    run: ({ items = [] }) => gather(Array.isArray(items) ? items : []),
  },
  merge: {
    summary: 'Lays maps over each other, the later one above.',
    run(inputs) {
      const merged = {}
      const parts = Object.entries(inputs).sort(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1)))
      for (const [, part] of parts)
        if (isObject(part)) for (const [key, value] of Object.entries(part)) setOwn(merged, key, value)
      return merged
    },
  },
  refuse: {
    summary: 'Ends a run that went where the pipeline has no way.',
    run({ message, hint }) {
      throw new ProvisoError(
        'capability/refused',
        String(message),
        typeof hint === 'string' ? { hint } : undefined,
      )
    },
  },
  wrap_dict: {
    summary: 'Puts a value into a map under one key.',
    run: ({ input = null, key = 'value' }) => keyed(String(key), input),
  },
  ensure_object: {
    summary: 'Makes a map of a value: as it is, out of JSON text, or under one key.',
    run: ({ input = null, key = 'value' }) => asObject(input) ?? keyed(String(key), input),
  },
}

export type FunctionName =
  | 'render'
  | 'pass'
  | 'take'
  | 'gather'
  | 'merge'
  | 'refuse'
  | 'wrap_dict'
  | 'ensure_object'

export function functionId(name: FunctionName): string {
  return `proviso.pipeline.${name}`
}

export const pipelineFunctions: readonly PipelineCapability[] = Object.entries(functions).map(
  ([name, { summary, run }]) => ({
    capability: {
      capabilityId: functionId(name as FunctionName),
      version: '1',
      displayName: name,
      summary,
      kind: 'local',
      nodeKind: 'transformation',
      inputContract: { type: 'object' },
      outputContract: {},
      idempotent: true,
      sideEffect: false,
      postConditions: [],
    },
    run: (inputs) => run(isObject(inputs) ? (inputs as Members) : {}),
  }),
)

/**
 * Splits the outputs of a map. Each has a `value` and members for the context, nested in `value` again where
 * items may fail.
 */
function gather(items: readonly Json[]): Json {
  const left: { [name: string]: Json } = {}
  const values = items.map((item) => {
    const collected = isObject(item) && Object.hasOwn(item, 'status')
    const yielded = collected ? (item as Members)['value'] : item
    if (!isObject(yielded)) return item
    const { value = null, ...entries } = yielded as Members
    for (const [name, entry] of Object.entries(entries)) setOwn(left, name, entry)
    return collected ? { ...(item as Members), value } : value
  })
  return { ...left, values }
}

function keyed(key: string, value: Json): Json {
  const made = {}
  setOwn(made, key, value)
  return made
}

function asObject(value: Json): Json | undefined {
  if (isObject(value)) return value as Json
  if (typeof value !== 'string') return undefined
  try {
    const read: unknown = JSON.parse(value)
    return isObject(read) ? (read as Json) : undefined
  } catch {
    return undefined
  }
}
