/**
 * What is known while a condition is being decided: the values each location may hold, narrowed by what has been assumed.
 * A world is never changed; assuming something gives a new one.
 */
import type { Json } from '../../base/json.ts'
import type { Expr, Var } from '../condition/expr.ts'
import { type Lookup, type Path, setAt } from './schema-values.ts'
import { everything, meet, type ValueSet } from './value-set.ts'

/** What `item` means: any element of the list at a path, or one value that is known. */
export type Item = { readonly path: Path } | { readonly value: Json } | undefined

/** Something that holds of every element of a list. */
interface OfEach {
  readonly body: Expr
  readonly truth: boolean
}

export interface World {
  readonly lookup: Lookup
  readonly facts: ReadonlyMap<string, ValueSet>
  readonly ofEach: ReadonlyMap<string, readonly OfEach[]>
}

export function createWorld(lookup: Lookup): World {
  return { lookup, facts: new Map(), ofEach: new Map() }
}

export const toPathKey = (path: Path): string => path.join('\n')

/** Where a variable looks; nowhere when the element is a known value or not known at all. */
export function pathOfVariable(variable: Var, item: Item): Path | undefined {
  if (variable.from === 'root') return variable.path
  return item && 'path' in item ? [...item.path, ...variable.path] : undefined
}

export function setIn(world: World, variable: Var, item: Item): ValueSet {
  const path = pathOfVariable(variable, item)
  if (path !== undefined) return setAtPath(world, path)
  return item && 'value' in item ? setAt(item.value, variable.path) : anything
}

export function setAtPath(world: World, path: Path): ValueSet {
  const set = world.lookup(path)
  const fact = world.facts.get(toPathKey(path))
  return fact === undefined ? set : meet(set, fact)
}

const anything: ValueSet = { ...everything, missing: true }

/** The world in which a location holds only these values. */
export function withFact(world: World, path: Path, set: ValueSet): World {
  return { ...world, facts: new Map(world.facts).set(toPathKey(path), set) }
}

export function withOfEach(world: World, list: Path, fact: OfEach): World {
  const key = toPathKey(list)
  return { ...world, ofEach: new Map(world.ofEach).set(key, [...(world.ofEach.get(key) ?? []), fact]) }
}

/**
 * The world as one element of a list sees it: what was assumed about another element is forgotten, and so is what holds of
 * each, which `solve.ts` says of this element and of no further one.
 */
export function withinList(world: World, list: Path): World {
  const [whole, inside] = [toPathKey(list), toPathKey([...list, '*'])]
  const isInside = (key: string) => key === inside || key.startsWith(`${inside}\n`)
  return {
    ...world,
    facts: new Map([...world.facts].filter(([key]) => !isInside(key))),
    ofEach: new Map([...world.ofEach].filter(([key]) => key !== whole && !isInside(key))),
  }
}
