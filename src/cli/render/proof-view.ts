/** Converts a proof to rows: a verdict for every property of the output and every constraint, and the nodes as a tree. Pure. */

import type { Constraint } from '../../domain/contract.ts'
import type { Diagnostic, DiagnosticBundle } from '../../domain/diagnostic.ts'
import type { Envelope } from '../../domain/envelope.ts'
import { type RaoRow, raoRows } from '../../domain/plan/rao-rows.ts'
import type { Draft, Edge, Source } from '../../domain/plan.ts'
import type { ProveResult } from '../../plan/index.ts'
import { listMembers } from '../../schema/build/project.ts'
import { describeCondition, parseCondition } from '../../schema/condition/condition.ts'
import type { NodeView } from '../live/progress.ts'

/** `proved`: certain before the run; `checked`: evaluated during the run; `wished`: soft and not certain. */
export type Verdict = 'proved' | 'checked' | 'wished' | 'missing'

export interface VerdictRow {
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
  readonly answer: readonly VerdictRow[]
  readonly constraints: readonly VerdictRow[]
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
  const all = [...bundle.failures, ...bundle.warnings, ...bundle.infos]
  return {
    accepted: proof.ok,
    bundle,
    answer: answerRows({ envelope, draft, proof }, all),
    constraints: envelope.outputContract.constraints.map((constraint) =>
      constraintRow(constraint, proof, all),
    ),
    nodes: nodeViews({ envelope, draft, proof }, bundle.failures),
    rao: proof.ok ? raoRows(proof.plan.nodes) : [],
  }
}

function answerRows({ envelope, draft, proof }: Proved, all: readonly Diagnostic[]): VerdictRow[] {
  const members = listMembers(envelope.outputContract.schema)
  const names = members.length === 0 ? [''] : members.map(({ name }) => name)
  const output = proof.ok ? proof.plan.output : draft.output
  return names.flatMap((name): VerdictRow[] => {
    const said = all.filter((diagnostic) => isAbout(diagnostic, name))
    const missing = said.some(({ severity }) => severity === 'hard')
    const source = sourceFor(output, name)
    const required = members.find((member) => member.name === name)?.required ?? true
    if (source === undefined && !required && !missing) return []
    const unproven = said.some(({ details }) => details?.['code'] === 'plan/output-unproven')
    const verdict = missing ? 'missing' : unproven ? 'checked' : 'proved'
    return [{ name: name === '' ? 'the answer' : name, verdict, by: source ?? '' }]
  })
}

/** Codes of findings about the output itself. */
const aboutAnswer: ReadonlySet<unknown> = new Set([
  'plan/output-missing',
  'plan/output-mismatch',
  'plan/output-unproven',
])

function isAbout({ details }: Diagnostic, name: string): boolean {
  if (details?.['code'] === 'plan/contract-vacant') return true
  if (!aboutAnswer.has(details?.['code'])) return false
  const pointer = details?.['pointer']
  return (
    details?.['property'] === name ||
    name === '' ||
    (typeof pointer === 'string' && pointer.split('/')[1] === name)
  )
}

function sourceFor(output: Draft['output'], name: string): string | undefined {
  if (output === undefined) return undefined
  const sources = 'properties' in output ? output.properties[name] : output
  const list = sources === undefined ? [] : ([sources].flat() as Source[])
  return list.length === 0 ? undefined : list.map(sourceName).join(', else ')
}

function constraintRow(
  { constraintId, expr }: Constraint,
  proof: ProveResult,
  all: readonly Diagnostic[],
): VerdictRow {
  const parsed = parseCondition(expr)
  const said = all.find((diagnostic) => diagnostic.constraintId?.split(',').includes(constraintId))
  const nodes = proof.ok ? proof.plan.nodes : []
  const enforcers = nodes.filter(({ enforces }) => enforces.includes(constraintId)).map(({ id }) => id)
  const guards = nodes
    .filter((node) => node.guards.some((guard) => guard.constraintId === constraintId))
    .map(({ id }) => id)
  const verdict = getVerdict(said, guards)
  const by = verdict === 'checked' ? guards : verdict === 'proved' ? enforcers : []
  return {
    name: constraintId,
    verdict,
    by: by.join(', '),
    ...(parsed.ok && { text: describeCondition(parsed.condition) }),
  }
}

function getVerdict(said: Diagnostic | undefined, guards: readonly string[]): Verdict {
  if (said?.status === 'unsatisfied') return said.severity === 'hard' ? 'missing' : 'wished'
  if (guards.length > 0) return 'checked'
  return said === undefined || said.status === 'satisfied' ? 'proved' : 'wished'
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
