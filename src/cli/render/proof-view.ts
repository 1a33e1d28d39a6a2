/** Converts a proof to what `proviso prove` prints: a named row for every property of the output and every constraint, and the nodes as a tree. Pure. */

import type { Diagnostic, DiagnosticBundle } from '../../domain/diagnostic.ts'
import type { Envelope } from '../../domain/envelope.ts'
import { answerRows, constraintRows, type Verdict, type VerdictRow } from '../../domain/plan/proof-rows.ts'
import { type RaoRow, raoRows } from '../../domain/plan/rao-rows.ts'
import type { Draft, Edge, Source } from '../../domain/plan.ts'
import type { ProveResult } from '../../plan/index.ts'
import type { NodeView } from '../live/progress.ts'

export interface NamedRow {
  /** A property of the output, or the id of a constraint. */
  readonly name: string
  readonly verdict: Verdict
  /** Its source, or what enforces it. */
  readonly by: string
  /** The constraint in readable form. */
  readonly text?: string
}

export interface ProofView {
  readonly accepted: boolean
  readonly bundle: DiagnosticBundle
  readonly answer: readonly NamedRow[]
  readonly constraints: readonly NamedRow[]
  readonly nodes: readonly NodeView[]
  /** Outputs under a RAO contract, with the source of the contract. */
  readonly rao: readonly RaoRow[]
}

export interface Proved {
  readonly envelope: Envelope
  readonly draft: Draft
  readonly proof: ProveResult
}

export function viewProof({ envelope, draft, proof }: Proved): ProofView {
  const bundle = proof.ok ? proof.plan.diagnostics : proof.diagnostics
  const plan = {
    contract: envelope.outputContract,
    output: proof.ok ? proof.plan.output : draft.output,
    nodes: proof.ok ? proof.plan.nodes : [],
    findings: [...bundle.failures, ...bundle.warnings, ...bundle.infos],
  }
  return {
    accepted: proof.ok,
    bundle,
    answer: answerRows(plan).map(toRow),
    constraints: constraintRows(plan).map(toRow),
    nodes: nodeViews({ envelope, draft, proof }, bundle.failures),
    rao: proof.ok ? raoRows(proof.plan.nodes) : [],
  }
}

/** The source of a property, or the nodes that answer for a constraint. */
function toRow({ name, verdict, sources, nodes, text }: VerdictRow): NamedRow {
  return {
    name: name === '' ? 'the answer' : name,
    verdict,
    by: sources.length > 0 ? sources.map(sourceName).join(', else ') : nodes.join(', '),
    ...(text !== undefined && { text }),
  }
}

/** Returns each node with what it supplies, under its last predecessor. */
function nodeViews({ draft, proof }: Proved, failures: readonly Diagnostic[]): NodeView[] {
  const edges = proof.ok ? proof.plan.edges : boundEdges(draft)
  const provides = new Map((proof.ok ? proof.plan.nodes : []).map((node) => [node.id, node.provides]))
  const position = new Map(draft.nodes.map(({ id }, index) => [id, index]))
  return draft.nodes.map(({ id, label, kind, capabilityId, derived, body, alternates = [] }, here) => {
    const before = edges.filter(({ to }) => to === id).map(({ from }) => position.get(from) ?? -1)
    const last = Math.max(-1, ...before.filter((index) => index < here))
    const failed = failures.some(({ nodeId, status }) => nodeId === id && status === 'unsatisfied')
    const supplied = provides.get(id) ?? []
    const facts = [
      kind ?? 'execution',
      `${capabilityId ?? (body ? describeBody(body) : 'routes')}${derived ? ' (derived)' : ''}`,
      ...(supplied.length > 0 ? [`supplies ${supplied.join(', ')}`] : []),
      ...(alternates.length > 0 ? [`else ${alternates.join(', ')}`] : []),
    ]
    const parent = last < 0 ? undefined : draft.nodes[last]?.id
    return {
      id,
      ...(label !== undefined && { label }),
      ...(parent !== undefined && { parent }),
      status: failed ? 'error' : 'pending',
      attempts: 0,
      detail: facts.join(', '),
    }
  })
}

/** Describes the nodes of a body with their capabilities: `write (copy.write) and check (copy.check)`. */
function describeBody({ nodes }: Draft): string {
  const inner = nodes.map(({ id, capabilityId, body }) => {
    if (capabilityId !== undefined) return `${id} (${capabilityId})`
    return body ? `${id} (runs ${describeBody(body)})` : id
  })
  return `runs ${inner.join(', ')}`
}

function boundEdges(draft: Draft): readonly Edge[] {
  const bound = draft.nodes.flatMap(({ id, inputs = {} }) =>
    (Object.values(inputs).flat() as Source[]).flatMap((source) =>
      'node' in source ? [{ from: source.node, to: id }] : [],
    ),
  )
  return [...(draft.edges ?? []), ...bound]
}

/** Describes the source of a value. */
function sourceName(source: Source): string {
  if ('node' in source) return source.node
  return 'envelope' in source ? `the envelope, ${source.envelope}` : 'a fixed value'
}
