/**
 * Decides each constraint of the caller (prover rules 1–6). No constraint is ever skipped: one that cannot be parsed is
 * unsatisfied.
 */
import { canonicalJson, sha256Hex } from '../../../base/canonical.ts'
import type { Json } from '../../../base/json.ts'
import { tokens } from '../../../base/pointer.ts'
import type { Constraint, Level } from '../../../domain/contract.ts'
import type { Cause, Diagnostic } from '../../../domain/diagnostic.ts'
import type { Source } from '../../../domain/plan.ts'
import {
  conditionVars,
  describeCondition,
  type ParsedCondition,
  parseCondition,
} from '../../../schema/condition/condition.ts'
import { clip } from '../../../schema/describe.ts'
import type { World } from '../../../schema/values/known-values.ts'
import type { Path } from '../../../schema/values/schema-values.ts'
import { assumeAll } from '../../../schema/values/solve.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import { suppliers } from '../hints.ts'
import type { Resolved, ResolvedNode, Slot } from '../proof-request.ts'
import { nodesIn, owns } from '../sources.ts'
import { isAssured, settingsFor, slotFor, verdictIn } from './answer-values.ts'
import { mayBeVacuous, neverNumber, neverNumbers } from './vacuous-truth.ts'

export interface Goal {
  readonly constraint: Constraint
  readonly level: Level
  /** Human-readable form. */
  readonly text: string
  readonly condition: ParsedCondition | undefined
  readonly paths: readonly Path[]
}

export interface Judgement {
  readonly goal: Goal
  /** Proved, or guarded at run time. */
  readonly met: boolean
  readonly diagnostic?: Diagnostic
  /** Nodes that make it true by their schema or post-conditions. */
  readonly enforcers: readonly string[]
  /** Nodes at which the engine evaluates it. */
  readonly guards: readonly string[]
}

/** Prepares constraints for the prover: each gets a unique id. */
export function toGoals(constraints: readonly Constraint[]): readonly Goal[] {
  const used = new Map<string, number>()
  return constraints.map((given) => {
    const base = given.constraintId || `c_${sha256Hex(canonicalJson(given.expr)).slice(0, 12)}`
    const count = (used.get(base) ?? 0) + 1
    used.set(base, count)
    const constraint = { ...given, constraintId: count === 1 ? base : `${base}#${count}` }
    const parsed = parseCondition(given.expr)
    return {
      constraint,
      level: given.level === 'soft' || given.level === 'informational' ? given.level : 'hard',
      text: parsed.ok ? describeCondition(parsed.condition) : clip(given.expr, 200),
      condition: parsed.ok ? parsed.condition : undefined,
      paths: parsed.ok ? conditionVars(parsed.condition).map(toPath) : [],
    }
  })
}

const toPath = (text: string): Path => (text === '' ? [] : text.split('.'))

export function judgeGoal(goal: Goal, resolved: Resolved): Judgement {
  const { condition, paths } = goal
  if (condition === undefined) return unreadable(goal)
  const unowned = paths.filter((path) => path.length > 0 && !isOwned(path, resolved))
  if (unowned.length > 0) return noProducer(goal, unowned, resolved)
  const settings = settingsFor(paths, resolved)
  const assured = verdictIn(
    condition,
    settings.flatMap((setting) => setting.assured),
  )
  const producers = findProducers(paths, resolved)
  const worlds = settings.map(({ world }) => world)
  const unlike = neverNumbers(condition.expr, worlds)
  if (assured === 'false' || assured === 'impossible') {
    const excluded = verdictIn(condition, worlds) === 'depends'
    const why = excluded
      ? `The post-conditions of ${names(producers)} exclude it`
      : `Nothing that ${names(producers)} may supply makes it true`
    return unmet(goal, 'schema_incompatible', {
      nodes: producers,
      suggestion: [
        `${why}: change ${excluded ? 'one of them or the bound' : 'the schema or the bound'}`,
        ...(unlike.length > 0 ? [neverNumber(unlike)] : []),
      ].join('\n'),
      ...(excluded && { details: { excluded } }),
    })
  }
  if (verdictIn(condition, worlds) === 'true') {
    const diagnostic = doubtAbout(goal, condition, worlds)
    return { goal, met: true, enforcers: ids(producers), guards: [], ...(diagnostic && { diagnostic }) }
  }
  if (isAssured(condition, settings)) {
    const enforcers = producers.filter(({ postConditions }) => postConditions.length > 0)
    const diagnostic = unlike.length > 0 ? orderedInVain(goal, unlike) : undefined
    return { goal, met: true, enforcers: ids(enforcers), guards: [], ...(diagnostic && { diagnostic }) }
  }
  // A failing guard costs a retry or a new plan, which is too much for a soft constraint.
  const guards = goal.level === 'hard' ? findGuards(paths, resolved) : []
  if (guards.length > 0) return guarded(goal, guards, unlike)
  return unmet(goal, 'missing_enforcer', {
    nodes: producers,
    suggestion: [
      `Tighten the output schema of ${names(producers)} so that it always holds, give it a post-condition, or add a validation node after it`,
      ...(unlike.length > 0 ? [neverNumber(unlike)] : []),
    ].join('\n'),
  })
}

/** Whether a source accounts for the path: a schema that declares it, or a value that contains it. */
function isOwned(path: Path, resolved: Resolved): boolean {
  const slot = slotFor(path, resolved)
  return slot?.sources.some((source) => owns(source, path.slice(slot.prefix.length), resolved)) ?? false
}

function findProducers(paths: readonly Path[], resolved: Resolved): ResolvedNode[] {
  const found = paths.flatMap((path) => slotFor(path, resolved)?.sources ?? [])
  const nodes = found.flatMap((source) => ('node' in source ? [source.node] : []))
  return [...new Set(nodes)].flatMap((id) => resolved.byId.get(id) ?? [])
}

const ids = (nodes: readonly ResolvedNode[]) => nodes.map(({ id }) => id)

function names(nodes: readonly ResolvedNode[]): string {
  return nodes.length === 0 ? 'the inputs' : nodes.map(({ id }) => `"${id}"`).join(' and ')
}

interface Reason {
  readonly nodes: readonly ResolvedNode[]
  readonly suggestion: string
  readonly details?: { readonly [key: string]: Json }
}

function unmet(goal: Goal, cause: Cause, reason: Reason): Judgement {
  return { goal, met: false, enforcers: [], guards: [], diagnostic: diagnose(goal, cause, reason) }
}

/**
 * Builds the diagnostic of an unmet constraint for its level: soft ones lower the score, informational ones only
 * inform.
 */
function diagnose(goal: Goal, cause: Cause, { nodes, suggestion, details }: Reason): Diagnostic {
  const byLevel = {
    hard: { status: 'unsatisfied', cause },
    soft: { status: 'unsatisfied', cause: 'unsatisfied_soft' },
    informational: { status: 'unknown', cause: 'advisory' },
  } as const
  const [node] = nodes.length === 1 ? nodes : []
  const capabilityId = node?.capability?.capabilityId
  return {
    ...base(goal),
    ...byLevel[goal.level],
    ...(node !== undefined && { nodeId: node.id }),
    ...(capabilityId !== undefined && { capabilityId }),
    suggestion,
    details: {
      reason: cause,
      ...(goal.constraint.rationale !== undefined && { rationale: goal.constraint.rationale }),
      ...details,
    },
  }
}

function base({ level, text, constraint }: Goal) {
  return { severity: level, constraint: text, constraintId: constraint.constraintId }
}

function unreadable(goal: Goal): Judgement {
  const parsed = parseCondition(goal.constraint.expr)
  const issues = parsed.ok
    ? []
    : parsed.issues.map(({ message, hint }) => (hint ? `${message}. ${hint}` : message))
  return unmet(goal, 'schema_incompatible', {
    nodes: [],
    suggestion: issues.join('\n'),
    details: { unreadable: true },
  })
}

function noProducer(goal: Goal, unowned: readonly Path[], resolved: Resolved): Judgement {
  const inList = (path: Path) =>
    goal.paths.some((other) => other.at(-1) === '*' || other.includes('*')) && path.length === 1
  const hint = unowned.some(inList) ? ['Inside some, all and none the element is called item: item.name'] : []
  const suggestion = [...unowned.map((path) => suppliers(path, resolved.request)), ...hint].join('\n')
  const vars = unowned.map((path) => path.join('.'))
  return unmet(goal, 'missing_producer', { nodes: [], suggestion, details: { vars } })
}

function guarded(goal: Goal, guards: readonly string[], unlike: readonly string[]): Judgement {
  const diagnostic: Diagnostic = {
    ...base(goal),
    status: 'unknown',
    cause: 'advisory',
    ...(guards[0] !== undefined && { nodeId: guards[0] }),
    suggestion: [
      'It depends on what is produced; a stricter schema or a post-condition would prove it',
      ...(unlike.length > 0 ? [neverNumber(unlike)] : []),
    ].join('\n'),
    details: {
      ...(unlike.length > 0 && { code: 'plan/unlike-types', vars: [...unlike] }),
      note: 'runtime guarded',
      guards: [...guards],
    },
  }
  return { goal, met: true, enforcers: [], guards, diagnostic }
}

/** Warns about a proved constraint that may not express what its author meant. */
function doubtAbout(goal: Goal, { expr }: ParsedCondition, worlds: readonly World[]): Diagnostic | undefined {
  const unlike = neverNumbers(expr, worlds)
  if (unlike.length > 0) return orderedInVain(goal, unlike)
  if (!mayBeVacuous(expr, worlds)) return undefined
  return {
    ...proved(goal),
    suggestion: 'It also holds when the value is missing; make the property required if that is not meant',
    details: { code: 'plan/vacuous', note: 'vacuous_on_missing' },
  }
}

const proved = (goal: Goal) => ({ ...base(goal), status: 'satisfied', cause: 'advisory' }) as const

function orderedInVain(goal: Goal, unlike: readonly string[]): Diagnostic {
  return {
    ...proved(goal),
    suggestion: neverNumber(unlike),
    details: { code: 'plan/unlike-types', note: 'ordering_without_number', vars: [...unlike] },
  }
}

/**
 * Returns the guards of a constraint (rule 5): validation nodes at which the engine can evaluate it, because they run after
 * everything that it reads, and read or supply part of it. Empty if some path through the plan has none.
 */
function findGuards(paths: readonly Path[], resolved: Resolved): readonly string[] {
  const slots = [...new Set(paths.flatMap((path) => slotFor(path, resolved) ?? []))]
  const candidates = resolved.nodes.filter((node) => node.kind === 'validation' && readsAny(node, slots))
  const found = new Set<string>()
  const sources = nodesIn(slots.flatMap((slot) => slot.sources))
  const asked = [...sources, ...candidates.map(({ id }) => id)]
  for (const { completed, complete } of resolved.scenarios.over(asked)) {
    const live = complete ? sources.filter((id) => completed.has(id)) : sources
    const guards = candidates.filter(({ id }) => {
      const before = resolved.graph.ancestors(id)
      return completed.has(id) && live.every((source) => source === id || before.has(source))
    })
    if (guards.length === 0 || live.length === 0) return []
    for (const { id } of guards) found.add(id)
  }
  return [...found]
}

function readsAny(node: ResolvedNode, slots: readonly Slot[]): boolean {
  const wanted = slots.flatMap((slot) => slot.sources)
  const supplies = wanted.some((source) => 'node' in source && source.node === node.id)
  const read = Object.values(node.inputs).flat()
  return supplies || read.some((source) => wanted.some((other) => overlap(source, other)))
}

/** Whether both sources read overlapping parts of the same output. */
function overlap(a: Source, b: Source): boolean {
  if (!('node' in a) || !('node' in b) || a.node !== b.node) return false
  const [left, right] = [tokens(a.pointer ?? ''), tokens(b.pointer ?? '')]
  return left.every((token, i) => i >= right.length || right[i] === token)
}

// Detects hard constraints that are satisfiable alone but not together, and reports a minimal unsatisfiable subset as
// one diagnostic.

interface Conflict {
  readonly members: readonly Goal[]
  readonly diagnostic: Diagnostic
}

/** The assumptions: schemas with the post-conditions of nodes, or schemas alone. */
type Given = 'assured' | 'schemas'

/** `goals` are the constraints that are satisfiable alone. */
export function findConflict(
  goals: readonly Goal[],
  resolved: Resolved,
  given: Given = 'assured',
): Conflict | undefined {
  const canHold = (some: readonly Goal[]) => canHoldIn(some, resolved, given)
  // Sort by id, so that the same set is found regardless of the order of the constraints.
  const hard = goals
    .filter(({ level, condition }) => level === 'hard' && condition !== undefined)
    .sort((a, b) => (a.constraint.constraintId < b.constraint.constraintId ? -1 : 1))
  if (hard.length < 2 || canHold(hard)) return undefined
  // Deletion filter: drop every constraint without which the conflict remains.
  let members = hard
  for (const goal of hard) {
    const others = members.filter((each) => each !== goal)
    if (!canHold(others)) members = others
  }
  const ids = members.map(({ constraint }) => constraint.constraintId)
  const diagnostic = createDiagnostic('plan/conflict', {
    constraint: members.map(({ text }) => `(${text})`).join(' and '),
    constraintId: ids.join(','),
    suggestion: `Change or soften one of ${ids.join(', ')}: no value satisfies all of them`,
    details: { conflict: ids },
  })
  return { members, diagnostic }
}

function canHoldIn(goals: readonly Goal[], resolved: Resolved, given: Given): boolean {
  if (goals.length === 0) return true
  const conditions = goals.map(({ condition }) => condition as ParsedCondition)
  const settings = settingsFor(
    goals.flatMap(({ paths }) => paths),
    resolved,
  )
  return settings.some(({ assured, world }) =>
    (given === 'assured' ? assured : [world]).some((each) => assumeAll(conditions, each).length > 0),
  )
}
