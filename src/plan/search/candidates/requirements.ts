/**
 * The requirements of a plan, deduplicated: a property with its schema, and the names under which it is found. The first
 * ones are the goals of the contract.
 */
import { type Json, jsonEqual, own } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import type { Level } from '../../../domain/contract.ts'
import type { Envelope } from '../../../domain/envelope.ts'
import type { Facet } from '../../../domain/facet.ts'
import type { Source } from '../../../domain/plan.ts'
import { both, isOpen } from '../../../schema/build/combine.ts'
import { listMembers, project } from '../../../schema/build/project.ts'
import { compileSchema } from '../../../schema/compile/compile.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { hold, openNode } from '../../../schema/values/schema-node.ts'
import { declares, isVacant, type Path, setAt } from '../../../schema/values/schema-values.ts'
import { isAbsent } from '../../../schema/values/value-set.ts'
import { getPropertyKey } from '../../catalog/compile-facets.ts'
import { type Goal as ContractGoal, toGoals } from '../../prove/goals/goals.ts'
import type { SearchRequest } from '../search-request.ts'
import type { OptimisationGoal } from './costs.ts'

export interface Requirement {
  readonly id: number
  readonly name: string
  readonly schema: JsonSchema
  /** Paths below it that constraints read: its supplier must declare them. */
  readonly paths: readonly Path[]
  /** Part of the answer: an input of the same name does not satisfy it. */
  readonly forAnswer: boolean
  /** Only a declared capability may supply it, because it is to be converted. */
  readonly declaredOnly?: true
  readonly facets: readonly Facet[]
}

export interface Requirements {
  add(requirement: Omit<Requirement, 'id'>): Requirement
  /** The requirements that a property of this name can satisfy. */
  called(name: string): readonly Requirement[]
  list(): readonly Requirement[]
}

/** Other names of a property: a facet's name and its key are equivalent. */
export type Aliases = ReadonlyMap<string, readonly string[]>

export function collectAliases(facets: readonly Facet[]): Aliases {
  const aliases = new Map<string, string[]>()
  const add = (name: string, other: string) => aliases.set(name, [...(aliases.get(name) ?? []), other])
  for (const facet of facets) {
    const key = getPropertyKey(facet)
    if (key === facet.name) continue
    add(key, facet.name)
    add(facet.name, key)
  }
  return aliases
}

export function getNames(name: string, aliases: Aliases): readonly string[] {
  return [name, ...(aliases.get(name) ?? [])]
}

export function createRequirements(aliases: Aliases): Requirements {
  const all: Requirement[] = []
  const byName = new Map<string, Requirement[]>()
  const same = (a: Requirement, b: Omit<Requirement, 'id'>) =>
    a.name === b.name &&
    a.forAnswer === b.forAnswer &&
    a.declaredOnly === b.declaredOnly &&
    (a.schema === b.schema || jsonEqual(a.schema, b.schema)) &&
    jsonEqual(a.paths, b.paths)
  return {
    add(given) {
      const found = byName.get(given.name)?.find((requirement) => same(requirement, given))
      if (found !== undefined) return found
      const requirement = { ...given, id: all.length }
      all.push(requirement)
      for (const name of getNames(requirement.name, aliases)) {
        const others = byName.get(name)
        if (others === undefined) byName.set(name, [requirement])
        else others.push(requirement)
      }
      return requirement
    },
    called: (name) => byName.get(name) ?? [],
    list: () => all,
  }
}

const meets = new WeakMap<object, WeakMap<object, boolean>>()

/** Whether some value satisfies both schemas; unknown counts as yes, because the prover decides. */
export function canMeet(a: JsonSchema, b: JsonSchema): boolean {
  if (a === b || isOpen(a) || isOpen(b)) return a !== false
  if (typeof a === 'boolean' || typeof b === 'boolean') return a !== false && b !== false
  let row = meets.get(a)
  if (row === undefined) {
    row = new WeakMap()
    meets.set(a, row)
  }
  let known = row.get(b)
  if (known === undefined) {
    known = !isVacant(both(a, b))
    row.set(b, known)
  }
  return known
}

/** Whether a supplied schema serves a requirement: some value fits, and one of the schemas declares the paths below it. */
export function serves(supplied: JsonSchema, requirement: Requirement): boolean {
  if (typeof supplied === 'object' && Object.hasOwn(supplied, 'const')) {
    const value = supplied['const'] as Json
    return (
      accepts(requirement.schema, value) && requirement.paths.every((path) => !isAbsent(setAt(value, path)))
    )
  }
  return (
    canMeet(supplied, requirement.schema) &&
    requirement.paths.every((path) => declares(supplied, path) || declares(requirement.schema, path))
  )
}

/** Returns the envelope source of a requirement, if a value there fits. */
export function findGivenSource(
  requirement: Requirement,
  envelope: Envelope,
  aliases: Aliases,
): Source | undefined {
  if (requirement.forAnswer || requirement.declaredOnly) return undefined
  return findInput(requirement, envelope, aliases)
}

/** The same, for answers too: an input of the name that satisfies the schema. */
export function findInput(
  requirement: Requirement,
  envelope: Envelope,
  aliases: Aliases,
): Source | undefined {
  for (const name of getNames(requirement.name, aliases)) {
    const found = findEnvelopeValue(name, envelope)
    if (found === undefined || !accepts(requirement.schema, found.value)) continue
    if (requirement.paths.every((path) => !isAbsent(setAt(found.value, path))))
      return { envelope: found.pointer }
  }
  return undefined
}

function findEnvelopeValue(name: string, { inputs, objective, specialInstructions }: Envelope) {
  const value = own(inputs, name) as Json | undefined
  if (value !== undefined) return { value, pointer: child('/inputs', name) }
  if (name === 'objective') return { value: objective as Json, pointer: '/objective' }
  if (name === 'specialInstructions')
    return { value: specialInstructions as Json, pointer: '/specialInstructions' }
  return undefined
}

/** Matches patterns in linear time in every app: both the schema and the value may come from an untrusted caller. */
export function accepts(schema: JsonSchema, value: Json): boolean {
  try {
    return isOpen(schema) || compileSchema(schema, { linearPatterns: true }).accepts(value)
  } catch {
    // A schema that does not compile accepts nothing; the prover reports it where it matters.
    return false
  }
}

/** A goal of the contract: a property of the answer, or a value that constraints read beside it. */
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
  const constraints = toGoals(given)
  const facets = new Map(request.facets.map((facet) => [facet.name, facet]))
  const members = listMembers(schema)
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
