/**
 * Resolves a map or a loop: what it passes to its body, the body resolved once for any item or round, and the resulting
 * contracts. The body sees its own nodes, the passed values and the envelope, and nothing else of the plan.
 */
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { type Draft, type DraftNode, givenNames, iterationDefaults } from '../../../domain/plan.ts'
import { both } from '../../../schema/build/combine.ts'
import { buildAnyOf, buildListSchema, buildMapSchema } from '../../../schema/build/composite-schemas.ts'
import {
  generalised,
  getElementSchema,
  getLengths,
  type Known,
  listMembers,
  project,
} from '../../../schema/build/project.ts'
import type { CompileOptions } from '../../../schema/compile/compile.ts'
import { checkFit } from '../../../schema/fit/fit.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { isVacant } from '../../../schema/values/schema-values.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import {
  type Given,
  type ProveRequest,
  type Resolved,
  type Slot,
  toCompileOptions,
} from '../proof-request.ts'
import { findScenarioWithout, getSourceSchema, toSources } from '../sources.ts'
import type { NodeContracts } from './contracts.ts'

interface BodyContext {
  readonly request: ProveRequest
  /** Schema of what the explicit bindings of an input supply. */
  readonly supplied: (sources: ReturnType<typeof toSources>) => Known
  readonly resolve: (request: ProveRequest) => Resolved
}

interface ResolvedBody extends NodeContracts {
  readonly body: Resolved
  /** Loop invariant: the schema that every state satisfies. */
  readonly state?: JsonSchema
}

export function resolveBody(node: DraftNode, context: BodyContext): ResolvedBody {
  const inputs = getInputs(node, context)
  const resolved =
    node.map === undefined ? resolveLoop(node, inputs, context) : resolveMap(node, inputs, context)
  const { output: declared = true } = node.contracts ?? {}
  return {
    ...resolved,
    output: both(resolved.output, declared),
    provenance: { input: [], output: [] },
  }
}

/** Location of a node of a body in diagnostics: `each[].write` in a map, `refine#.write` in a loop. */
export function bodyPath({ id, map }: DraftNode, nodeId: string | undefined): string {
  const prefix = map === undefined ? `${id}#` : `${id}[]`
  return nodeId === undefined ? prefix : `${prefix}.${nodeId}`
}

/** Prefixes the node ids of a body's diagnostics with the location of the body. */
export function inBody(node: DraftNode, diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.map((each) => ({ ...each, nodeId: bodyPath(node, each.nodeId) }))
}

interface Inputs {
  /** By name, the list or state included. */
  readonly known: ReadonlyMap<string, Known>
  readonly required: ReadonlySet<string>
}

/** Bound inputs are required, unless the node's own contract declares what is. */
function getInputs(node: DraftNode, { supplied }: BodyContext): Inputs {
  const declared = node.contracts?.input
  const known = Object.entries(node.inputs ?? {}).map(([name, binding]): [string, Known] => {
    const { schema, exact } = supplied(toSources(binding))
    return [
      name,
      { schema: both(schema, declared === undefined ? true : project(declared, `/${name}`).schema), exact },
    ]
  })
  const required =
    declared === undefined
      ? Object.keys(node.inputs ?? {})
      : listMembers(declared)
          .filter((member) => member.required)
          .map(({ name }) => name)
  return { known: new Map(known), required: new Set(required) }
}

type Sides = Pick<ResolvedBody, 'input' | 'output' | 'body' | 'state' | 'diagnostics'>

function resolveMap(node: DraftNode, inputs: Inputs, { request, resolve }: BodyContext): Sides {
  const { maxItems = iterationDefaults.maxItems, onItemFail = 'fail' } = node.map ?? {}
  const given = inputs.known.get('items')?.schema ?? true
  const lengths = getLengths(given)
  const element = getElementSchema(given)
  const instance = givenBy(inputs, [
    ['item', element],
    ['index', { schema: { type: 'integer', minimum: 0, maximum: maxItems - 1 }, exact: true }],
  ])
  const declared = node.contracts?.output
  const wanted = declared === undefined || onItemFail === 'collect' ? true : project(declared, '/0').schema
  const body = resolve(toRequest(request, node.body, { given: instance, wanted }))
  const value = bodyOutput(body)
  const items = onItemFail === 'collect' ? collectedSchema(value) : value
  const least = onItemFail === 'skip' ? 0 : Math.min(lengths.min, maxItems)
  const list = buildListSchema(items, Math.min(lengths.max, maxItems))
  const output = least > 0 && typeof list === 'object' ? { ...list, minItems: least } : list
  return {
    input: inputContract(node, { items: { schema: { type: 'array' }, certain: true } }),
    output,
    body,
    diagnostics: [
      ...missingParts(node, 'items'),
      ...inBody(node, body.diagnostics),
      ...(lengths.min > maxItems ? [tooLong(node, { least: lengths.min, maxItems })] : []),
      ...(declared !== undefined && isVacant(both(output, declared)) ? [neverFits(node)] : []),
    ],
  }
}

/** Returns the schema of one item in the output of a map that collects failures, given the output schema of its body. */
export function collectedSchema(value: JsonSchema): JsonSchema {
  const failure = buildMapSchema({
    code: { schema: { type: 'string' }, certain: true },
    message: { schema: { type: 'string' }, certain: true },
  })
  return buildAnyOf([
    buildMapSchema({
      status: { schema: { const: 'completed' }, certain: true },
      value: { schema: value, certain: true },
    }),
    buildMapSchema({
      status: { schema: { const: 'failed' }, certain: true },
      error: { schema: failure, certain: true },
    }),
  ])
}

function resolveLoop(node: DraftNode, inputs: Inputs, { request, resolve }: BodyContext): Sides {
  const { maxRounds = iterationDefaults.maxRounds, state: declared } = node.loop ?? {}
  const first = generalised(inputs.known.get('state')?.schema ?? true)
  const round = { schema: { type: 'integer', minimum: 1, maximum: maxRounds }, exact: true }
  const resolveWith = (state: Known, wanted: JsonSchema) => {
    const given = givenBy(inputs, [
      ['state', state],
      ['round', round],
    ])
    return resolve(toRequest(request, node.body, { given, wanted }))
  }
  const { state, body } =
    declared === undefined
      ? settledState(first, resolveWith, toCompileOptions(request))
      : { state: declared, body: resolveWith({ schema: declared, exact: true }, declared) }
  return {
    input: inputContract(node, { state: { schema: state, certain: true } }),
    output: state,
    state,
    body,
    diagnostics: [...missingParts(node, 'state'), ...inBody(node, body.diagnostics)],
  }
}

const mostPasses = 3

/**
 * Computes a loop invariant by fixpoint iteration: widens the schema of the first state until each round preserves it,
 * or gives up and allows anything.
 */
function settledState(
  first: Known,
  resolveWith: (state: Known, wanted: JsonSchema) => Resolved,
  compileOptions: CompileOptions,
): { readonly state: JsonSchema; readonly body: Resolved } {
  let state = first.schema
  for (let pass = 0; pass < mostPasses; pass++) {
    const body = resolveWith({ schema: state, exact: false }, true)
    const output = bodyOutput(body)
    if (checkFit(output, state, compileOptions).kind === 'yes') return { state, body }
    state = buildAnyOf([state, output])
  }
  return { state: true, body: resolveWith({ schema: true, exact: false }, true) }
}

/** Builds the request for a body: the same rules, but the answer is the output of the body. */
function toRequest(
  request: ProveRequest,
  body: Draft | undefined,
  { given, wanted }: { readonly given: Given; readonly wanted: JsonSchema },
): ProveRequest {
  const { envelope } = request
  const outputContract = { ...envelope.outputContract, schema: wanted, constraints: [] }
  return { ...request, given, draft: body ?? { nodes: [] }, envelope: { ...envelope, outputContract } }
}

/** Builds what the body receives: the item or state, its number, and the node's other inputs by name. */
function givenBy({ known, required }: Inputs, own: readonly (readonly [string, Known])[]): Given {
  const lists: ReadonlySet<string> = new Set(['items', 'state'])
  const others = [...known].filter(([name]) => !lists.has(name))
  const members = new Map([...others, ...own])
  const certain: ReadonlySet<string> = new Set([...required, ...own.map(([name]) => name)])
  return {
    schema: buildMapSchema(
      Object.fromEntries(
        [...members].map(([name, { schema }]) => [name, { schema, certain: certain.has(name) }]),
      ),
    ),
    inexact: new Set([...members].filter(([, { exact }]) => !exact).map(([name]) => name)),
  }
}

type Members = Parameters<typeof buildMapSchema>[0]

function inputContract(node: DraftNode, own: Members): JsonSchema {
  const names = Object.keys(node.inputs ?? {}).map((name) => [name, { schema: true, certain: true }] as const)
  return both(buildMapSchema(own), node.contracts?.input ?? buildMapSchema(Object.fromEntries(names)))
}

/** Reports missing parts of unparsed drafts. */
function missingParts(node: DraftNode, input: 'items' | 'state'): Diagnostic[] {
  const { id, map, loop, body, inputs = {} } = node
  const kind = map === undefined ? 'loop' : 'map'
  const taken = givenNames[kind].find((name) => Object.hasOwn(inputs, name) && name !== input)
  const wrong = [
    map && loop && 'Take one of map and loop, and put the other into its body',
    body === undefined && `Give the ${kind} a body`,
    !Object.hasOwn(inputs, input) && `Bind inputs.${input} of "${id}"`,
    taken !== undefined && `Rename the input "${taken}": the ${kind} itself gives its body that name`,
    node.capabilityId !== undefined && `Move the capability into the body of the ${kind}`,
    node.routing !== undefined && `Move the routing out of the ${kind}`,
  ].find(Boolean)
  if (typeof wrong !== 'string') return []
  return [
    createDiagnostic('plan/body', {
      constraint: `"${id}" is a whole ${kind}`,
      nodeId: id,
      suggestion: wrong,
    }),
  ]
}

function tooLong({ id }: DraftNode, limits: { least: number; maxItems: number }): Diagnostic {
  return createDiagnostic('plan/map-limit', {
    constraint: `the list of "${id}" has at most ${limits.maxItems} items`,
    nodeId: id,
    suggestion: `Raise maxItems of "${id}" to at least ${limits.least}, or bind a shorter list`,
    details: { ...limits },
  })
}

function neverFits({ id }: DraftNode): Diagnostic {
  return createDiagnostic('plan/map-mismatch', {
    constraint: `the contract of "${id}" accepts the list that it makes`,
    nodeId: id,
    suggestion: `Change contracts.output of "${id}", or what its body yields; with onItemFail "collect" an item is { status, value } or { status, error }`,
  })
}

/** Returns the schema of the output of a body, from the bindings of that output. */
function bodyOutput(body: Resolved): JsonSchema {
  const slots = body.slots.filter(({ inAnswer }) => inAnswer)
  const [whole] = slots.filter(({ prefix }) => prefix.length === 0)
  if (whole) return ofSlot(whole, body)
  return buildMapSchema(
    Object.fromEntries(
      slots.flatMap((slot) => {
        const [name] = slot.prefix
        if (name === undefined || slot.sources.length === 0) return []
        const certain = findScenarioWithout(slot.sources, body) === undefined
        return [[name, { schema: ofSlot(slot, body), certain }]]
      }),
    ),
  )
}

function ofSlot({ sources }: Slot, body: Resolved): JsonSchema {
  return buildAnyOf(sources.map((source) => getSourceSchema(source, body).schema))
}
