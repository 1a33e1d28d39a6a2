/** Builds the immutable Plan from an accepted draft. Only `prove.ts` calls this. */
import type { Constraint } from '../../domain/contract.ts'
import type { DiagnosticBundle } from '../../domain/diagnostic.ts'
import type { BodyPlan, Plan, PlanNode, Source } from '../../domain/plan.ts'
import { membersOf } from '../../schema/build/members.ts'
import { answerId } from '../builtin-capabilities.ts'
import type { Judgement } from './goals/goals.ts'
import { applyContracts } from './obligations/rao-contracts.ts'
import { limitsOf } from './obligations/spending.ts'
import type { ProveRequest, Resolved, ResolvedNode, Slot } from './proof-request.ts'

type Unbranded = { readonly [K in keyof Plan as K extends string ? K : never]: Plan[K] }

export function buildPlan(
  resolved: Resolved,
  judgements: readonly Judgement[],
  diagnostics: DiagnosticBundle,
): Plan {
  const { request, nodes, graph, slots } = resolved
  const aside = bySlot(slots, false)
  const derived = nodes.filter(({ draft }) => draft.derived).map(({ id }) => id)
  const plan: Unbranded = {
    version: request.version,
    nodes: nodes.map((node) => planNode(node, judgements, request)),
    edges: graph.edges,
    output: outputOf(slots),
    ...(Object.keys(aside).length > 0 && { aside }),
    limits: limitsOf(request),
    diagnostics,
    metadata: {
      ...request.draft.metadata,
      planVersion: request.version,
      planVersionTag: `v${request.version}`,
      branches: nodes.filter(({ kind }) => kind === 'branch').length,
      derived,
      normalizationInjected: nodes.some(isNormalization),
    },
  }
  // The brand exists only in the type; no other code may cast to it.
  return Object.freeze(plan) as Plan
}

/** Whether a node only converts a value that is supplied in another form (FLEX-32). */
function isNormalization({ kind, draft }: ResolvedNode): boolean {
  return kind === 'transformation' && draft.capabilityId === answerId
}

function planNode(node: ResolvedNode, judgements: readonly Judgement[], request: ProveRequest): PlanNode {
  const { kind, input, output, inputs, needs, requires, postConditions, provenance, alternateContracts } =
    node
  const { body: _, ...draft } = node.draft
  const most = draft.constraints?.max_duration_ms
  const timeoutMs = most === undefined ? draft.timeoutMs : Math.min(most, draft.timeoutMs ?? most)
  const guards: Constraint[] = judgements
    .filter((each) => each.guards.includes(node.id))
    .map(({ goal }) => goal.constraint)
  const rao = applyContracts(node, request)
  return {
    ...draft,
    kind,
    contracts: { input, output },
    inputs,
    ...(alternateContracts && { alternateContracts }),
    needs,
    ...(requires.length > 0 && { requires }),
    postConditions,
    guards,
    provides: membersOf(output).map(({ name }) => name),
    enforces: judgements
      .filter(({ enforcers }) => enforcers.includes(node.id))
      .map(({ goal }) => goal.constraint.constraintId),
    facetProvenance: provenance,
    ...(rao.length > 0 && { rao }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(draft.loop && { loop: { ...draft.loop, state: node.state ?? true } }),
    ...(node.body && { body: bodyPlan(node.body) }),
  }
}

/**
 * Builds the plan of a body. Constraints of the caller apply to the whole answer, so nodes of a body guard and enforce
 * none.
 */
function bodyPlan(body: Resolved): BodyPlan {
  return {
    nodes: body.nodes.map((node) => planNode(node, [], body.request)),
    edges: body.graph.edges,
    output: outputOf(body.slots),
  }
}

/** Binds the whole answer to one list of sources, or each property to its own. */
function outputOf(slots: readonly Slot[]): Plan['output'] {
  const [whole] = slots.filter(({ inAnswer, prefix }) => inAnswer && prefix.length === 0)
  return whole === undefined ? { properties: bySlot(slots, true) } : whole.sources
}

function bySlot(slots: readonly Slot[], inAnswer: boolean): { [property: string]: readonly Source[] } {
  return Object.fromEntries(
    slots.flatMap(({ prefix: [name], sources, inAnswer: held }) =>
      name !== undefined && held === inAnswer && sources.length > 0 ? [[name, sources]] : [],
    ),
  )
}
