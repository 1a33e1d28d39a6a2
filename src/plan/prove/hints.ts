/**
 * Suggestions in diagnostics. Those about a planner's draft are reworded for the caller, who cannot change the draft: each
 * names a key of the envelope, a registration or a setting. The suggestion for the planner is kept in
 * `details.forPlanner`.
 */

import { closest } from '../../base/closest.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { Facet } from '../../domain/facet.ts'
import { listMembers } from '../../schema/build/project.ts'
import { declares, type Path } from '../../schema/values/schema-values.ts'
import { answerId } from '../builtin-capabilities.ts'
import { getPropertyKey } from '../catalog/compile-facets.ts'
import type { DiagnosticCode } from '../diagnostics.ts'
import type { ProveRequest } from './proof-request.ts'
import { mostScenarios } from './scenarios/scenario.ts'

type Wording = (diagnostic: Diagnostic, request: ProveRequest) => string

/** Returns the diagnostic as worded for the caller. */
export function forCaller(diagnostic: Diagnostic, request: ProveRequest): Diagnostic {
  const { suggestion, details } = diagnostic
  const said = wordingFor(diagnostic)?.(diagnostic, request)
  if (said === undefined || said === suggestion) return diagnostic
  return {
    ...diagnostic,
    suggestion: said,
    details: { ...details, ...(suggestion !== undefined && { forPlanner: suggestion }) },
  }
}

function wordingFor({ details, cause, constraintId }: Diagnostic): Wording | undefined {
  if (details?.['consequenceOf'] !== undefined)
    return () => 'Correct the other findings first: this one follows from them'
  if (details?.['conflictsWith'] !== undefined) return undefined
  const code = details?.['code']
  // Diagnostics about policies and registrations already name what a caller can change.
  if (typeof code === 'string')
    return Object.hasOwn(byCode, code) ? byCode[code as DiagnosticCode] : undefined
  const reason = details?.['reason'] ?? cause
  return constraintId !== undefined && typeof reason === 'string' && Object.hasOwn(byReason, reason)
    ? byReason[reason]
    : undefined
}

/** No key of the envelope causes the diagnostic. */
const plannersOwn: Wording = () =>
  'The draft of the planner is at fault: start the run again, choose another planner (`planner.mode`), or send a `draft` with the envelope'

const getCapability = ({ capabilityId }: Diagnostic) =>
  capabilityId === undefined ? 'the capability that supplies it' : `capability "${capabilityId}"`
const detail = ({ details }: Diagnostic, key: string) => {
  const value = details?.[key]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

const byCode: { readonly [code in DiagnosticCode]?: Wording } = {
  'plan/empty': () =>
    'Register a capability that supplies what outputContract.schema asks for, or choose another planner (`planner.mode`)',
  'plan/limit': () => 'Ask for less in one run: split `outputContract.schema` into several runs',
  'plan/node-id': plannersOwn,
  'plan/capability-absent': plannersOwn,
  'plan/capability-unknown': (diagnostic, { inactive }) => {
    const reason = inactive?.get(diagnostic.capabilityId ?? '')
    const why = reason === undefined ? '' : `It is inactive: ${reason}. `
    return `${why}Register ${getCapability(diagnostic)} or make it active, or start the run again: the planner named what it cannot use`
  },
  'plan/stand-in-unfit': (diagnostic) =>
    `It is left out of the plan; to use it as an alternate, register ${getCapability(diagnostic)} with the contracts of the capability that it replaces`,
  'plan/kind': plannersOwn,
  'plan/body': plannersOwn,
  'plan/map-limit': (diagnostic) =>
    `Send at most ${detail(diagnostic, 'maxItems') ?? 'as many'} items in \`inputs\` of the envelope, or start the run again`,
  'plan/loop-exit': plannersOwn,
  'plan/exit-unknown': plannersOwn,
  'plan/exit-undeclared': plannersOwn,
  'plan/edge': plannersOwn,
  'plan/binding': plannersOwn,
  'plan/condition': plannersOwn,
  'plan/output-contradiction': (diagnostic) =>
    `Start the run again: the planner asks ${getCapability(diagnostic)} for an output that it never supplies; or register it with another output contract`,
  'plan/facet-unknown': (diagnostic) =>
    `Register the facet, or take it out of the contract of ${getCapability(diagnostic)}`,
  'plan/facet-direction': (diagnostic) =>
    `Register the facet with the direction "bidirectional", or take it out of the contract of ${getCapability(diagnostic)}`,
  'plan/facet-conflict': (diagnostic) =>
    `Register one of the facets with another propertyKey, or take it out of the contract of ${getCapability(diagnostic)}`,
  'plan/facet-derived': (diagnostic) =>
    `Nothing has to change; to avoid it, register ${getCapability(diagnostic)} with these facets`,
  'plan/node-data': plannersOwn,
  'plan/cycle': plannersOwn,
  'plan/route-bypassed': plannersOwn,
  'plan/fallback-edge': plannersOwn,
  'plan/unreachable': plannersOwn,
  'plan/input-missing': (diagnostic) => {
    const name = detail(diagnostic, 'property') ?? 'the value'
    return `Put "${name}" into \`inputs\` of the envelope, or register a capability that supplies it in every run`
  },
  'plan/input-mismatch': (diagnostic) => {
    const name = detail(diagnostic, 'property') ?? 'the value'
    return `Change "${name}" in \`inputs\` of the envelope if it comes from there, else "${detail(diagnostic, 'keyword') ?? 'type'}" in the input contract of ${getCapability(diagnostic)} or in the output contract that supplies it`
  },
  'plan/ambiguous': plannersOwn,
  'plan/output-missing': (diagnostic, request) => {
    const name = detail(diagnostic, 'property')
    return `${describeSupply(name === undefined ? [] : [name], request)}, or make it optional in outputContract.schema`
  },
  'plan/output-mismatch': (diagnostic) =>
    `Change "${detail(diagnostic, 'keyword') ?? 'type'}" at outputContract.schema${detail(diagnostic, 'pointer') ?? ''}, or register a capability that supplies what it asks for`,
  'plan/policy-require': (diagnostic, { capabilities }) => {
    const { capabilityId = '', suggestion = '' } = diagnostic
    if (!capabilities.some((each) => each.capabilityId === capabilityId)) return suggestion
    return `Take "${capabilityId}" out of policies.planner.selection.require, or ask in outputContract.schema for what it supplies: nothing else in the plan needs it`
  },
  'plan/policy-forbid': ({ capabilityId }) =>
    `Take "${capabilityId ?? ''}" out of policies.planner.selection.forbid, or register another capability that supplies the same`,
  'plan/tool-approval': ({ capabilityId, constraintId = '' }) =>
    `Set \`approval: 'always'\` on the tool "${capabilityId ?? ''}" of the agent, or take "${constraintId.split(':').slice(2).join(':')}" out of policies.planner.directives.hitlRequiredFor`,
  'plan/policy-kind': ({ constraintId = '' }) => {
    const [, list, kind] = constraintId.split(':')
    return list === 'requiredKinds'
      ? `Register a capability with nodeKind "${kind ?? ''}" that the answer needs, or take "${kind ?? ''}" out of policies.planner.topology.requiredKinds`
      : 'Register a capability of another kind that supplies the same, or change policies.planner.topology.forbiddenKinds'
  },
  'plan/policy-depth': (diagnostic) =>
    `Raise policies.planner.topology.maxDepth to ${detail(diagnostic, 'depth') ?? 'the depth of the plan'}, or register capabilities that need fewer steps`,
  'plan/over-limit': raiseLimit,
  'plan/may-exceed-limit': raiseLimit,
  'plan/node-network': plannersOwn,
  'plan/node-authority': plannersOwn,
  'plan/node-duration': plannersOwn,
}

function raiseLimit(diagnostic: Diagnostic): string {
  const limit = diagnostic.constraint?.split(' ')[0] ?? 'maxTokens'
  return `Raise constraints.${limit} to ${detail(diagnostic, 'most') ?? 'what the plan takes'}, or register cheaper capabilities`
}

/** Suggests how the caller can get the path supplied; names capabilities that a policy excludes, with the policy. */
function describeSupply(path: Path, request: ProveRequest): string {
  const { selection, topology } = request.envelope.policies.planner
  const what = path.length === 0 ? 'the answer' : path.join('.')
  const able = findSuppliers(path, request)
  if (able.length === 0)
    return `No active capability supplies ${what}: register one that declares it, or put it into \`inputs\` of the envelope`
  const forbidden = able.filter((id) => selection?.forbid?.includes(id))
  const ofKind = request.capabilities.filter(
    ({ capabilityId, nodeKind }) =>
      able.includes(capabilityId) && topology?.forbiddenKinds?.includes(nodeKind),
  )
  const free = able.filter(
    (id) => !forbidden.includes(id) && !ofKind.some(({ capabilityId }) => capabilityId === id),
  )
  const ways = [
    ...(free.length > 0
      ? [
          `put what ${free.map((id) => describeNeeds(id, request)).join(' or ')} into \`inputs\` of the envelope`,
        ]
      : []),
    ...(forbidden.length > 0
      ? [`take ${forbidden.join(' or ')} out of policies.planner.selection.forbid`]
      : []),
    ...ofKind
      .slice(0, 1)
      .map(
        ({ capabilityId, nodeKind }) =>
          `take "${nodeKind}", the kind of ${capabilityId}, out of policies.planner.topology.forbiddenKinds`,
      ),
    'register another capability that supplies it in every run',
  ]
  return `To get ${what}, ${ways.join(', or ')}`
}

/** Names a capability and the inputs that it requires and the envelope does not have: `read needs ("message")`. */
function describeNeeds(id: string, { capabilities, facets, envelope }: ProveRequest): string {
  const side = capabilities.find(({ capabilityId }) => capabilityId === id)?.inputContract ?? []
  const names = Array.isArray(side)
    ? facets.filter(({ name }) => side.includes(name)).map(getPropertyKey)
    : listMembers(side as Exclude<typeof side, readonly string[]>)
        .filter(({ required }) => required)
        .map(({ name }) => name)
  const missing = names.filter((name) => !Object.hasOwn(envelope.inputs, name))
  return missing.length === 0
    ? `${id} needs`
    : `${id} needs (${missing.map((name) => `"${name}"`).join(', ')})`
}

/** Wording for constraints of the caller, by the reason why they are not proved. */
const byReason: { readonly [reason: string]: Wording } = {
  missing_producer: ({ details, constraintId = '' }, request) => {
    const paths = Array.isArray(details?.['vars'])
      ? details['vars'].map((path) => String(path).split('.'))
      : []
    const meant = paths.flatMap((path) => meantBy(path, request) ?? [])
    const hint = meant.length > 0 ? `. Did you mean ${meant.join(', ')}?` : ''
    const ways = paths.map((path) => describeSupply(path, request))
    return `${ways.join('. ')}, or change the constraint "${constraintId}"${hint}`
  },
  missing_enforcer: (diagnostic) =>
    `Register ${getCapability(diagnostic)} with an output contract or \`postConditions\` that ensure it, or a capability with nodeKind "validation" that judges it; or lower the level of the constraint "${diagnostic.constraintId ?? ''}"`,
  schema_incompatible: (diagnostic) =>
    diagnostic.details?.['unreadable'] === true
      ? (diagnostic.suggestion ?? '')
      : `Change the constraint "${diagnostic.constraintId ?? ''}", or register ${getCapability(diagnostic)} with an output contract that allows it`,
}

// For planners: names the capabilities that supply a path.

/** Names the capabilities whose output has the path, or suggests an alternative. */
export function suppliers(path: Path, request: ProveRequest): string {
  const able = findSuppliers(path, request)
  const what = path.length === 0 ? 'the answer' : path.join('.')
  if (able.length > 0) return `Add a node with ${able.join(' or ')}, which supplies ${what}`
  const otherwise = 'put it into the inputs, or register one that declares it'
  const answers = answering(path, request)
  if (answers === 'may')
    return `No active capability declares ${what}: add a node with ${answerId} whose output contract has it, ${otherwise}`
  const allow = answers === 'forbidden' ? `, or let ${answerId} do it, which the policy forbids` : ''
  const meant = meantBy(path, request)
  const hint = meant === undefined ? '' : `. Did you mean ${meant}?`
  return `No active capability supplies ${what}: ${otherwise}${allow}${hint}`
}

/** Returns the ids of up to five capabilities whose output has the path. */
function findSuppliers(path: Path, { capabilities, facets }: ProveRequest): readonly string[] {
  return capabilities
    .filter((capability) => suppliesPath(capability, path, facets))
    .slice(0, 5)
    .map(({ capabilityId }) => capabilityId)
}

/** Returns the property of the contract or the inputs that a misspelled root name is closest to. */
function meantBy([name]: Path, { envelope }: ProveRequest): string | undefined {
  const names = [
    ...listMembers(envelope.outputContract.schema).map((member) => member.name),
    ...Object.keys(envelope.inputs),
  ]
  return name === undefined || names.includes(name) ? undefined : closest(name, names)
}

/**
 * Whether the open answer can supply the path: it supplies any property of the caller's schema, unless a policy forbids
 * it.
 */
function answering(path: Path, { capabilities, envelope }: ProveRequest): 'may' | 'forbidden' | 'no' {
  const { outputContract, policies } = envelope
  const isThere = capabilities.some(({ capabilityId }) => capabilityId === answerId)
  if (!isThere || !declares(outputContract.schema, path)) return 'no'
  return policies.planner.selection?.forbid?.includes(answerId) ? 'forbidden' : 'may'
}

function suppliesPath({ outputContract: side }: Capability, path: Path, facets: readonly Facet[]): boolean {
  if (!Array.isArray(side)) return declares(side as Exclude<typeof side, readonly string[]>, path)
  return facets.some(
    (facet) =>
      side.includes(facet.name) && getPropertyKey(facet) === path[0] && declares(facet.schema, path.slice(1)),
  )
}

/** Used when the scenarios are too many to enumerate: nothing is known to be missing, and nothing is proved. */
export const tooManyScenarios = `More than ${mostScenarios.toLocaleString('en')} scenarios lead to it, too many to check: lower the bounds of maps and loops, bind it to fewer sources, or split the plan`
