/** Obligation on the shape: ids, capabilities, kinds, bindings and conditions of every node and edge are valid. */
import { closest } from '../../../base/closest.ts'
import type { Issue } from '../../../base/errors/issue.ts'
import { isObject } from '../../../base/json.ts'
import { tokens } from '../../../base/pointer.ts'
import type { NodeKind } from '../../../domain/capability.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { checkNodeData } from '../../../domain/draft/parse-draft.ts'
import { type DraftNode, isIterated, type Source } from '../../../domain/plan.ts'
import { listMembers } from '../../../schema/build/project.ts'
import { parseCondition } from '../../../schema/condition/condition.ts'
import { declares } from '../../../schema/values/schema-values.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { Resolved, ResolvedNode } from '../proof-request.ts'
import { listRouteTargets } from '../scenarios/scenario.ts'
import { isBinding, toSources } from '../sources.ts'

const kinds: ReadonlySet<string> = new Set<NodeKind>([
  'structuring',
  'branch',
  'execution',
  'transformation',
  'validation',
  'fallback',
  'routing',
  'map',
  'loop',
])

export function shape(resolved: Resolved): readonly Diagnostic[] {
  const { draft, capabilities } = resolved.request
  const alive = new Set(capabilities.map(({ capabilityId }) => capabilityId))
  return [
    ...(draft.nodes.length === 0
      ? [
          createDiagnostic('plan/empty', {
            constraint: 'the plan has a node',
            suggestion: 'Add nodes that supply the properties of the contract',
          }),
        ]
      : []),
    ...ids(draft.nodes),
    ...edges(resolved),
    ...resolved.nodes.flatMap((node) => [
      ...capability(node, alive, resolved),
      ...kind(node),
      ...bindings(node, resolved),
      ...conditions(node),
      ...nodeData(node),
    ]),
    ...answer(resolved),
  ]
}

function ids(nodes: readonly DraftNode[]): Diagnostic[] {
  const seen = new Set<string>()
  // Items and rounds are called node[3] and node#2.
  const iterated = nodes.filter(isIterated).flatMap(({ id }) => [`${id}[`, `${id}#`])
  return nodes.flatMap(({ id }) => {
    const wrong =
      typeof id !== 'string' || id === ''
        ? 'is no text'
        : seen.has(id)
          ? 'is used twice'
          : iterated.some((prefix) => id.startsWith(prefix))
            ? 'looks like an item or a round of another node'
            : undefined
    seen.add(id)
    if (wrong === undefined) return []
    return [
      createDiagnostic('plan/node-id', {
        constraint: `node id ${JSON.stringify(id)} is its own`,
        nodeId: String(id),
        details: { problem: wrong },
      }),
    ]
  })
}

function edges({ request, byId }: Resolved): Diagnostic[] {
  const outcomes: ReadonlySet<unknown> = new Set([undefined, 'pass', 'fail', 'always'])
  return (request.draft.edges ?? []).flatMap((edge) => {
    const { from, to, when } = edge
    const unknown = [from, to].filter((id) => !byId.has(id))
    const wrong =
      unknown.length > 0
        ? `Node "${unknown[0]}" not found`
        : from === to
          ? 'A node cannot wait for itself'
          : outcomes.has(when)
            ? undefined
            : '"when" is pass, fail or always'
    return wrong === undefined
      ? []
      : [
          createDiagnostic('plan/edge', {
            constraint: `edge from "${from}" to "${to}"`,
            nodeId: from,
            suggestion: wrong,
          }),
        ]
  })
}

/** Checks that every capability that may execute the node is registered. */
function capability(
  { draft, id, output }: ResolvedNode,
  alive: ReadonlySet<string>,
  { request }: Resolved,
): Diagnostic[] {
  if (draft.capabilityId === undefined) {
    if (draft.routing !== undefined || isIterated(draft)) return []
    return [
      createDiagnostic('plan/capability-absent', {
        constraint: `node "${id}" has a capability`,
        nodeId: id,
        suggestion: 'Set capabilityId, routing if the node only decides, or map or loop with a body',
      }),
    ]
  }
  return [draft.capabilityId, ...(draft.alternates ?? [])]
    .filter((each) => !alive.has(each))
    .map((capabilityId) =>
      createDiagnostic('plan/capability-unknown', {
        constraint: `capability "${capabilityId}" is active`,
        nodeId: id,
        capabilityId,
        suggestion: [
          getReason(capabilityId, request),
          meant(capabilityId, alive),
          alternatives(output, request.capabilities),
        ]
          .filter((part) => part !== undefined)
          .join(' '),
      }),
    )
}

function getReason(capabilityId: string, { inactive }: Resolved['request']): string | undefined {
  const reason = inactive?.get(capabilityId)
  return reason === undefined ? undefined : `It is inactive: ${reason}.`
}

function meant(capabilityId: string, alive: ReadonlySet<string>): string | undefined {
  const found = closest(capabilityId, [...alive])
  return found === undefined ? undefined : `Did you mean ${found}?`
}

function alternatives(
  output: ResolvedNode['output'],
  capabilities: Resolved['request']['capabilities'],
): string | undefined {
  const wanted = listMembers(output).map(({ name }) => name)
  const able = capabilities.filter(
    ({ capabilityId, outputContract: side }) =>
      // Functions of pipelines replace no other capability.
      !capabilityId.startsWith('proviso.pipeline.') &&
      (wanted.length === 0 ||
        wanted.some((name) =>
          Array.isArray(side) ? side.includes(name) : declares(side as boolean, [name]),
        )),
  )
  const names = able.slice(0, 10).map(({ capabilityId }) => capabilityId)
  return names.length === 0 ? undefined : `Active: ${names.join(', ')}`
}

function kind({ draft, id }: ResolvedNode): Diagnostic[] {
  if (draft.kind === undefined || kinds.has(draft.kind)) return []
  const suggestion = `Use one of ${[...kinds].join(', ')}`
  return [
    createDiagnostic('plan/kind', { constraint: `node "${id}" has a known kind`, nodeId: id, suggestion }),
  ]
}

function bindings({ draft, id }: ResolvedNode, resolved: Resolved): Diagnostic[] {
  const named = Object.entries(draft.inputs ?? {}).flatMap(([name, binding]) =>
    toSources(binding).flatMap((source) => {
      const wrong = problemWith(source, resolved, id)
      return wrong === undefined
        ? []
        : [
            createDiagnostic('plan/binding', {
              constraint: `input "${name}" of "${id}" is bound`,
              nodeId: id,
              suggestion: wrong,
            }),
          ]
    }),
  )
  const lost = [...listRouteTargets(draft)].filter((target) => !resolved.byId.has(target))
  const routes = lost.map((target) =>
    createDiagnostic('plan/edge', {
      constraint: `"${id}" routes to "${target}"`,
      nodeId: id,
      suggestion: `Add a node "${target}", or route to another node`,
    }),
  )
  return [...named, ...routes]
}

function answer(resolved: Resolved): Diagnostic[] {
  const { output } = resolved.request.draft
  if (output === undefined) return []
  const bound = isBinding(output)
    ? [output]
    : Object.values(isObject(output.properties) ? output.properties : {})
  return bound.flatMap(toSources).flatMap((source) => {
    const wrong = problemWith(source, resolved)
    return wrong === undefined
      ? []
      : [createDiagnostic('plan/binding', { constraint: 'the answer is bound', suggestion: wrong })]
  })
}

const fromEnvelope = /^\/(inputs(\/.*)?|objective|specialInstructions(\/\d+)?)$/s

function problemWith(source: Source, { byId, request }: Resolved, self?: string): string | undefined {
  if (!isObject(source)) return 'A source is { node }, { envelope }, { value } or, in a body, { input }'
  if ('value' in source) return undefined
  if ('input' in source) return problemWithInput(String(source.input), request)
  if ('envelope' in source) {
    return fromEnvelope.test(String(source.envelope))
      ? undefined
      : 'The envelope gives /inputs/…, /objective and /specialInstructions'
  }
  if (!('node' in source) || !byId.has(source.node)) return `Node "${String(source.node)}" not found`
  if (source.node === self) return 'A node cannot take its own output'
  const { pointer = '' } = source
  return pointer === '' || pointer.startsWith('/')
    ? undefined
    : `"${pointer}" is no JSON pointer; write "/${pointer}"`
}

function problemWithInput(pointer: string, { given }: Resolved['request']): string | undefined {
  if (given === undefined) return 'Only nodes in the body of a map or a loop have { input }'
  const names = listMembers(given.schema).map(({ name }) => name)
  const [name = ''] = tokens(pointer)
  if (names.includes(name)) return undefined
  const meant = closest(name, names)
  const hint = meant === undefined ? '' : ` Did you mean /${meant}?`
  return `The body is given ${names.map((each) => `/${each}`).join(', ')}.${hint} Bind others on the map or loop itself`
}

function conditions({ draft, id, postConditions }: ResolvedNode): Diagnostic[] {
  const all = [
    ...postConditions.map((json, i) => ({ json, what: `post-condition ${i + 1} of "${id}"` })),
    ...(draft.routing?.routes ?? []).map(({ condition: json }, i) => ({
      json,
      what: `route ${i + 1} of "${id}"`,
    })),
  ]
  return all.flatMap(({ json, what }) => {
    const parsed = parseCondition(json)
    return parsed.ok ? [] : [unreadable(what, id, parsed.issues)]
  })
}

/**
 * Checks node settings, since drafts of planners are not parsed before: a misspelled setting must not be ignored
 * silently.
 */
function nodeData({ draft, id }: ResolvedNode): Diagnostic[] {
  const { data } = draft
  if (data === undefined) return []
  return checkNodeData(data, '').map(({ message, hint }) =>
    createDiagnostic('plan/node-data', {
      constraint: `data of "${id}": ${message}`,
      nodeId: id,
      suggestion: hint,
    }),
  )
}

function unreadable(what: string, nodeId: string, issues: readonly Issue[]): Diagnostic {
  return createDiagnostic('plan/condition', {
    constraint: `${what} can be read`,
    nodeId,
    suggestion: issues.map(({ message, hint }) => (hint ? `${message}. ${hint}` : message)).join('\n'),
  })
}
