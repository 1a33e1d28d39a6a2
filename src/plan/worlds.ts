/**
 * What is known of the answer when a condition on it is proved: for each part the source that it comes from, in every
 * combination that a run can bring about. A verdict must hold in all of these worlds.
 */
import { jsonEqual } from '../base/equal.ts'
import { tokens } from '../base/pointer.ts'
import type { Source } from '../domain/plan.ts'
import { type ParsedCondition, parseCondition } from '../schema/condition.ts'
import { mapPaths } from '../schema/condition-map.ts'
import { type Path, valuesOf } from '../schema/schema-values.ts'
import { assumeAll, decide, type Verdict } from '../schema/solve.ts'
import { join, meet, nothing, onlyMissing, type ValueSet } from '../schema/value-set.ts'
import { type World, worldOf } from '../schema/world.ts'
import type { Resolved, Slot } from './request.ts'
import type { Scenario } from './scenario.ts'
import { isThere, nodesIn, valuesAt } from './sources.ts'

/** No source supplies the slot. */
export interface LeftOut {
  /** Sources that ran without supplying it, as far as they have post-conditions. */
  readonly leftOutBy: readonly NodeSource[]
}

type NodeSource = Extract<Source, { readonly node: string }>
type Option = Source | LeftOut

/** For each slot its source, or that there is none; several where they could not be told apart. */
export type Choice = ReadonlyMap<Slot, readonly Option[]>

export function isLeftOut(option: Option): option is LeftOut {
  return 'leftOutBy' in option
}

/** Combinations that are looked at one by one. */
const mostWorlds = 64

export interface Setting {
  /** As far as schemas say. */
  readonly world: World
  /** The same with the post-conditions of the nodes; none when no run can bring it about. */
  readonly assured: readonly World[]
  /** Those post-conditions, word for word: sets of values cannot hold all that a condition says. */
  readonly said: readonly ParsedCondition[]
}

/** The worlds in which these paths are looked at. */
export function settingsFor(paths: readonly Path[], resolved: Resolved): readonly Setting[] {
  const slots = new Set(paths.map((path) => slotFor(path, resolved)).filter((slot) => slot !== undefined))
  return choicesFor([...slots], resolved).map((choice) => {
    const world = worldOf(lookupFor(choice, resolved))
    const said = assurances(choice, resolved)
    return { world, assured: assumeAll(said, world), said }
  })
}

/** In every setting that can be the post-conditions make it true, or a node promises exactly this. */
export function isAssured(condition: ParsedCondition, settings: readonly Setting[]): boolean {
  const possible = settings.filter(({ assured }) => assured.length > 0)
  const isTrue = ({ assured, said }: Setting) =>
    said.some(({ expr }) => jsonEqual(expr, condition.expr)) || verdictIn(condition, assured) === 'true'
  return possible.length > 0 && possible.every(isTrue)
}

/** The verdict that holds in every world that can be; `impossible` if none can. */
export function verdictIn(condition: ParsedCondition, worlds: readonly World[]): Verdict {
  const verdicts = new Set(worlds.map((world) => decide(condition, world)))
  verdicts.delete('impossible')
  const [only] = verdicts
  return verdicts.size > 1 ? 'depends' : (only ?? 'impossible')
}

const bySlotName = new WeakMap<readonly Slot[], ReadonlyMap<string | undefined, Slot>>()

/** The slot that a path looks into: that of its first segment, or else the whole answer. */
export function slotFor(path: Path, { slots }: Resolved): Slot | undefined {
  let index = bySlotName.get(slots)
  if (index === undefined) {
    index = new Map(slots.map((slot) => [slot.prefix[0], slot]))
    bySlotName.set(slots, index)
  }
  return index.get(path[0]) ?? index.get(undefined)
}

/**
 * Every combination of sources that a run can bring about; a single one with all of them where there are too many.
 * `nodeId`: only runs that start this node count.
 */
export function choicesFor(slots: readonly Slot[], resolved: Resolved, nodeId?: string): readonly Choice[] {
  const found = new Map<string, Choice>()
  const asking = nodeId === undefined ? [] : [nodeId]
  const asked = [...nodesIn(slots.flatMap(({ sources }) => sources)), ...asking]
  for (const scenario of resolved.scenarios.over(asked)) {
    if (scenario.complete && !asking.every((id) => scenario.started.has(id))) continue
    const options = slots.map((slot) => optionsFor(slot, scenario, resolved))
    const count = options.reduce((product, each) => product * each.length, 1)
    if (count > mostWorlds || found.size > mostWorlds) return [anyOf(slots, resolved)]
    let choices: (readonly Option[])[] = [[]]
    for (const each of options)
      choices = choices.flatMap((before) => each.map((option) => [...before, option]))
    for (const choice of choices) {
      found.set(JSON.stringify(choice), new Map(slots.map((slot, i) => [slot, choice.slice(i, i + 1)])))
    }
  }
  return [...found.values()]
}

/** The sources that may be the first that is there. */
function optionsFor(slot: Slot, scenario: Scenario, resolved: Resolved): Option[] {
  const options: Source[] = []
  for (const source of slot.sources) {
    const there = isThere(source, scenario, resolved)
    if (there !== 'no') options.push(source)
    if (there === 'yes') return options
  }
  const leftOutBy = slot.sources.filter(
    (source): source is NodeSource =>
      'node' in source &&
      scenario.completed.has(source.node) &&
      (resolved.byId.get(source.node)?.postConditions.length ?? 0) > 0,
  )
  return [...options, { leftOutBy }]
}

/** Too many combinations: one world in which each slot may have any of its sources. */
function anyOf(slots: readonly Slot[], resolved: Resolved): Choice {
  const each = (slot: Slot) => [
    ...new Set(
      resolved.scenarios
        .over(nodesIn(slot.sources))
        .flatMap((scenario) => optionsFor(slot, scenario, resolved)),
    ),
  ]
  return new Map(slots.map((slot) => [slot, each(slot)]))
}

function lookupFor(choice: Choice, resolved: Resolved): (path: Path) => ValueSet {
  const known = new Map<string, ValueSet>()
  const caller = valuesOf(resolved.callerSchema)
  return (path) => {
    const key = path.join('\n')
    let set = known.get(key)
    if (set === undefined) {
      set = look(path)
      known.set(key, set)
    }
    return set
  }

  function look(path: Path): ValueSet {
    const node = path[0]?.startsWith(ofNode) ? path[0].slice(1) : undefined
    if (node !== undefined) return valuesAt({ node }, path.slice(1), resolved)
    const slot = slotFor(path, resolved)
    if (path.length === 0 || slot === undefined)
      return path.length === 0 ? caller(path) : meet(caller(path), onlyMissing)
    const sets = (choice.get(slot) ?? []).map((source) => sourceSet(source, slot, path))
    const set = sets.reduce(join, nothing)
    return slot.inAnswer ? meet(set, caller(path)) : set
  }

  function sourceSet(source: Option, { prefix }: Slot, path: Path): ValueSet {
    if (isLeftOut(source)) return path.includes('*') ? nothing : onlyMissing
    const set = valuesAt(source, path.slice(prefix.length), resolved)
    return path.length === prefix.length ? { ...set, missing: false } : set
  }
}

/** Marks paths into the output of a node that the answer does not hold; no property begins like this. */
const ofNode = '\u0000'

/**
 * The post-conditions of the nodes that the answer comes from, as conditions on the answer. A node that ran and left a
 * property out has kept its post-conditions, too: its output and the answer both lack the property.
 */
function assurances(choice: Choice, { byId }: Resolved): ParsedCondition[] {
  const places = [...choice].flatMap(([{ prefix }, options]) => {
    const [option] = options
    if (options.length !== 1 || option === undefined) return []
    const sources = isLeftOut(option) ? option.leftOutBy : 'node' in option ? [option] : []
    return sources.map(({ node, pointer = '' }) => ({ node, from: tokens(pointer), prefix }))
  })
  return [...new Set(places.map(({ node }) => node))].flatMap((node) => {
    const own = places.filter((place) => place.node === node)
    return (byId.get(node)?.postConditions ?? []).flatMap((json) => {
      const parsed = parseCondition(json)
      if (!parsed.ok) return []
      const expr = mapPaths(parsed.condition.expr, (path) => {
        const place = own.find(({ from }) => from.every((token, i) => path[i] === token))
        return place ? [...place.prefix, ...path.slice(place.from.length)] : [ofNode + node, ...path]
      })
      return [{ expr }]
    })
  })
}
