/**
 * The functions behind nodes that the compiler generates: pure functions of their inputs, the same for every
 * pipeline.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, type Json, own, setOwn } from '../../base/json.ts'
import type { Capability } from '../../domain/capability.ts'
import { renderValue } from '../templates/templates.ts'
import { builtinFunctions } from './builtin-functions.ts'

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
  entry: {
    summary: 'Puts a value into a map under one key.',
    run: builtinFunctions.wrap_dict.run,
  },
  merge: {
    summary: 'Lays maps over each other, the later one above.',
    run: (inputs) => mergeParts(inputs),
  },
  merge_distinct: {
    summary: 'Joins the maps of parallel branches, which must not have the same member.',
    run: ({ names = [], ...inputs }) => mergeParts(inputs, names as readonly string[]),
  },
  list: {
    summary: 'Makes a list of the values.',
    run: (inputs) => inOrder(inputs).map(([, value]) => value),
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
  ...builtinFunctions,
}

export type FunctionName =
  | 'render'
  | 'pass'
  | 'take'
  | 'gather'
  | 'merge'
  | 'refuse'
  | 'entry'
  | 'merge_distinct'
  | 'list'
  | keyof typeof builtinFunctions

export function functionId(name: FunctionName): string {
  return `proviso.pipeline.${name}`
}

const common = {
  version: '1',
  nodeKind: 'transformation',
  inputContract: { type: 'object' },
  outputContract: {},
  idempotent: true,
  sideEffect: false,
  postConditions: [],
} as const

/** The capability behind `http_get`, which a dispatcher with access to the network calls. */
export const httpGet: Capability = {
  ...common,
  capabilityId: 'proviso.pipeline.http_get',
  displayName: 'http_get',
  summary: 'Gets a URL.',
  kind: 'fetch',
  nodeKind: 'execution',
  inputContract: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
  outputContract: {
    type: 'object',
    properties: {
      status: { type: 'integer' },
      type: { type: 'string' },
      text: { type: 'string' },
      json: true,
    },
    required: ['status', 'type', 'text'],
    additionalProperties: false,
  },
}

export const pipelineFunctions: readonly PipelineCapability[] = [
  ...Object.entries<{ summary: string; run: (inputs: Members) => Json }>(functions).map(
    ([name, { summary, run }]): PipelineCapability => ({
      capability: {
        ...common,
        capabilityId: functionId(name as FunctionName),
        displayName: name,
        summary,
        kind: 'local',
      },
      run: (inputs) => run(isObject(inputs) ? (inputs as Members) : {}),
    }),
  ),
  { capability: httpGet },
]

/** Inputs are named `m0`, `m1`, …. */
function inOrder(inputs: Members): [string, Json][] {
  return Object.entries(inputs).sort(([a], [b]) => Number(a.slice(1)) - Number(b.slice(1)))
}

/** Lays maps over each other. With the names of their branches, two that have the same member are an error. */
function mergeParts(inputs: Members, names?: readonly string[]): Json {
  const merged = {}
  const owners = new Map<string, string>()
  for (const [index, part] of inOrder(inputs)) {
    if (!isObject(part)) continue
    const name = names?.[Number(index.slice(1))] ?? index
    for (const [key, value] of Object.entries(part as Members)) {
      const owner = owners.get(key)
      if (names && owner !== undefined)
        throw new ProvisoError(
          'capability/refused',
          `Cannot merge the branches: "${owner}" and "${name}" both have the member "${key}"`,
          { hint: 'Rename it in one of them, or set merge_strategy: overwrite' },
        )
      owners.set(key, name)
      setOwn(merged, key, value)
    }
  }
  return merged
}

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
