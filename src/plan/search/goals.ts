/** What the contract needs: the properties of the answer, what constraints look at beside it, and what policies demand. */
import { child } from '../../base/pointer.ts'
import type { Level } from '../../domain/contract.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { membersOf } from '../../schema/members.ts'
import { project } from '../../schema/project.ts'
import { hold, openNode } from '../../schema/schema-node.ts'
import type { Path } from '../../schema/schema-values.ts'
import { type Goal as ContractGoal, goalsOf } from '../goals.ts'
import type { OptimisationGoal } from './costs.ts'
import type { SearchRequest } from './request.ts'
import { type Aliases, namesOf, type Want, type Wants } from './wants.ts'

export interface SearchGoal {
  readonly want: Want
  /** Without it the contract cannot be met. */
  readonly required: boolean
  /** Part of the answer, the whole of it, or only looked at by constraints. */
  readonly role: 'answer' | 'whole' | 'aside'
}

export interface ContractNeeds {
  readonly goals: readonly SearchGoal[]
  readonly constraints: readonly ContractGoal[]
}

/** Keywords that say nothing about how the properties of an object bear on each other. */
const apart = new Set(
  'type properties required additionalProperties title description $schema $id $defs definitions $ref allOf examples default $comment'.split(
    ' ',
  ),
)

export function contractNeeds(
  request: SearchRequest,
  wants: Wants,
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
    want: wants.add({
      name,
      schema: project(schema, child('', name)).schema,
      paths: pathsTo(name),
      forAnswer: true,
      facets: namesOf(name, aliases).flatMap((each) => facets.get(each) ?? []),
    }),
    required: required || noneRequired || paths.some(({ root, level }) => root === name && level === 'hard'),
    role: 'answer',
  }))
  const named = new Set(members.map(({ name }) => name))
  const beside = [...new Set(paths.map(({ root }) => root))].filter((root) => root !== '' && !named.has(root))
  if (members.length > 0) {
    for (const name of beside) {
      const levels = paths.filter(({ root }) => root === name).map(({ level }) => level)
      const required = levels.includes('hard')
      if (!required && !isWorthIt(levels, goal)) continue
      const want = wants.add({ name, schema: true, paths: pathsTo(name), forAnswer: false, facets: [] })
      goals.push({ want, required, role: 'aside' })
    }
  }
  if (members.length === 0 || !isPlain(schema)) {
    // Properties that bear on each other cannot be put together one by one: somebody has to give all of it.
    const want = wants.add({ name: '', schema, paths: [], forAnswer: true, facets: [] })
    goals.push({ want, required: true, role: 'whole' })
  }
  return { goals, constraints }
}

/** Soft constraints get a producer unless the caller wants it fast or cheap; informational ones never. */
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

/** An object of named properties that have nothing to do with each other. */
function isPlain(schema: JsonSchema): boolean {
  const { parts, unions, impossible } = openNode([], [hold(schema)])
  if (impossible || unions.length > 0) return false
  return parts.every((part) => Object.keys(part.schema).every((keyword) => apart.has(keyword)))
}
