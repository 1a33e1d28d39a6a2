/** Converts a proof to rows: a verdict for every property of the answer and every constraint. For the command line and the console. Pure. */
import { listMembers } from '../../schema/build/project.ts'
import { describeCondition, parseCondition } from '../../schema/condition/condition.ts'
import type { Constraint, OutputContract } from '../contract.ts'
import type { Diagnostic } from '../diagnostic.ts'
import type { Draft, PlanNode, Source } from '../plan.ts'

/** `proved`: certain before the run; `checked`: evaluated during the run; `wished`: soft and not certain. */
export type Verdict = 'proved' | 'checked' | 'wished' | 'missing'

export interface VerdictRow {
  /** A property of the answer, empty for all of it; or the id of a constraint. */
  readonly name: string
  readonly verdict: Verdict
  /** Where the property comes from, in order of preference. */
  readonly sources: readonly Source[]
  /** Nodes that enforce the constraint, or check it. */
  readonly nodes: readonly string[]
  /** The constraint in readable form. */
  readonly text?: string
}

export interface ProvedPlan {
  readonly contract: OutputContract
  readonly output: Draft['output']
  /** Empty if the plan was rejected. */
  readonly nodes: readonly Pick<PlanNode, 'id' | 'enforces' | 'guards'>[]
  /** Failures, warnings and notes of the proof. */
  readonly findings: readonly Diagnostic[]
}

/** One row for each property of the answer; an optional property that nothing supplies has none. */
export function answerRows({ contract, output, findings }: ProvedPlan): VerdictRow[] {
  const members = listMembers(contract.schema)
  const names = members.length === 0 ? [''] : members.map(({ name }) => name)
  return names.flatMap((name): VerdictRow[] => {
    const said = findings.filter((finding) => isAbout(finding, name))
    const isMissing = said.some(({ severity }) => severity === 'hard')
    const sources = findSources(output, name)
    const isRequired = members.find((member) => member.name === name)?.required ?? true
    if (sources.length === 0 && !isRequired && !isMissing) return []
    const isUnproven = said.some(({ details }) => details?.['code'] === 'plan/output-unproven')
    const verdict = isMissing ? 'missing' : isUnproven ? 'checked' : 'proved'
    return [{ name, verdict, sources, nodes: [] }]
  })
}

/** One row for each constraint of the contract. */
export function constraintRows({ contract, nodes, findings }: ProvedPlan): VerdictRow[] {
  return contract.constraints.map(({ constraintId, expr }: Constraint) => {
    const parsed = parseCondition(expr)
    const said = findings.find((finding) => finding.constraintId?.split(',').includes(constraintId))
    const enforcers = nodes.filter(({ enforces }) => enforces.includes(constraintId)).map(({ id }) => id)
    const guards = nodes
      .filter((node) => node.guards.some((guard) => guard.constraintId === constraintId))
      .map(({ id }) => id)
    const verdict = getVerdict(said, guards)
    return {
      name: constraintId,
      verdict,
      sources: [],
      nodes: verdict === 'checked' ? guards : verdict === 'proved' ? enforcers : [],
      ...(parsed.ok && { text: describeCondition(parsed.condition) }),
    }
  })
}

/** Codes of findings about the answer itself. */
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

function findSources(output: Draft['output'], name: string): readonly Source[] {
  if (output === undefined) return []
  const sources = 'properties' in output ? output.properties[name] : output
  return sources === undefined ? [] : ([sources].flat() as Source[])
}

function getVerdict(said: Diagnostic | undefined, guards: readonly string[]): Verdict {
  if (said?.status === 'unsatisfied') return said.severity === 'hard' ? 'missing' : 'wished'
  if (guards.length > 0) return 'checked'
  return said === undefined || said.status === 'satisfied' ? 'proved' : 'wished'
}
