/**
 * The goals of the contract: the properties of the answer, the values that constraints read beside it, and what
 * policies require.
 */
import { child } from '../../../base/pointer.ts'
import type { Level } from '../../../domain/contract.ts'
import { membersOf, project } from '../../../schema/build/project.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { hold, openNode } from '../../../schema/values/schema-node.ts'
import type { Path } from '../../../schema/values/schema-values.ts'
import { type Goal as ContractGoal, goalsOf } from '../../prove/goals/goals.ts'
import type { SearchRequest } from '../search-request.ts'
import type { OptimisationGoal } from './costs.ts'
import { type Aliases, getNames, type Requirement, type Requirements } from './requirements.ts'

export interface SearchGoal {
  readonly requirement: Requirement
  /** The contract cannot be met without it. */
  readonly required: boolean
  /** Part of the answer, the whole answer, or only read by constraints. */
  readonly role: 'answer' | 'whole' | 'aside'
}

interface ContractNeeds {
  readonly goals: readonly SearchGoal[]
  readonly constraints: readonly ContractGoal[]
}

/** Keywords that do not relate the properties of an object to each other. */
const apart = new Set(
  'type properties required additionalProperties title description $schema $id $defs definitions $ref allOf examples default $comment'.split(
    ' ',
  ),
)

export function contractNeeds(
  request: SearchRequest,
  requirements: Requirements,
  { aliases, goal }: { readonly aliases: Aliases; readonly goal: OptimisationGoal },
): ContractNeeds {
  const { schema, constraints: given } = request.envelope.outputContract
  const constraints = goalsOf(given)
  const facets = new Map(request.facets.map((facet) => [facet.name, facet]))
  const members = membersOf(schema)
  const noneRequired = !members.some(({ required }) => required)
  const paths = pathsByRoot(constraints)
  const pathsTo = (name: string) => paths.filter(({ root }) => root === name).map(({ path }) => path)
  const goals: SearchGoal[] = members.map(({ name, required }) => ({
    requirement: requirements.add({
      name,
      schema: project(schema, child('', name)).schema,
      paths: pathsTo(name),
      forAnswer: true,
      facets: getNames(name, aliases).flatMap((each) => facets.get(each) ?? []),
    }),
    required: required || noneRequired || paths.some(({ root, level }) => root === name && level === 'hard'),
    role: 'answer',
  }))
  const named = new Set(members.map(({ name }) => name))
  const findOtherParts = [...new Set(paths.map(({ root }) => root))].filter(
    (root) => root !== '' && !named.has(root),
  )
  if (members.length > 0) {
    for (const name of findOtherParts) {
      const levels = paths.filter(({ root }) => root === name).map(({ level }) => level)
      const required = levels.includes('hard')
      if (!required && !isWorthIt(levels, goal)) continue
      const requirement = requirements.add({
        name,
        schema: true,
        paths: pathsTo(name),
        forAnswer: false,
        facets: [],
      })
      goals.push({ requirement, required, role: 'aside' })
    }
  }
  if (members.length === 0 || !isPlain(schema)) {
    // Properties that depend on each other cannot be assembled one by one: one node has to supply the whole answer.
    const requirement = requirements.add({ name: '', schema, paths: [], forAnswer: true, facets: [] })
    goals.push({ requirement, required: true, role: 'whole' })
  }
  return { goals, constraints }
}

/** Soft constraints get a producer unless the goal is speed or token efficiency; informational ones never. */
function isWorthIt(levels: readonly Level[], goal: OptimisationGoal): boolean {
  return levels.includes('soft') && goal !== 'speed' && goal !== 'token_efficiency'
}

interface RootedPath {
  readonly root: string
  readonly path: Path
  readonly level: Level
}

function pathsByRoot(constraints: readonly ContractGoal[]): readonly RootedPath[] {
  return constraints.flatMap(({ paths, level }) =>
    paths.flatMap(([root = '', ...path]) => (root === '' ? [] : [{ root, path, level }])),
  )
}

/** Whether it is an object of named, independent properties. */
function isPlain(schema: JsonSchema): boolean {
  const { parts, unions, impossible } = openNode([], [hold(schema)])
  if (impossible || unions.length > 0) return false
  return parts.every((part) => Object.keys(part.schema).every((keyword) => apart.has(keyword)))
}
