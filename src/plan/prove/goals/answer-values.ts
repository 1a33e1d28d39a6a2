/**
 * Computes what is known of the answer when a condition on it is proved: for each part its source, in every combination
 * that a run can produce (possible worlds). A verdict must hold in all of these worlds.
 */
import { jsonEqual } from '../../../base/json.ts'
import { tokens } from '../../../base/pointer.ts'
import type { Source } from '../../../domain/plan.ts'
import { type ParsedCondition, parseCondition } from '../../../schema/condition/condition.ts'
import { mapPaths } from '../../../schema/condition/expr.ts'
import { createWorld, type World } from '../../../schema/values/known-values.ts'
import { getValueLookup, type Path } from '../../../schema/values/schema-values.ts'
import { assumeAll, decide, type Verdict } from '../../../schema/values/solve.ts'
import { join, meet, nothing, onlyMissing, type ValueSet } from '../../../schema/values/value-set.ts'
import type { Resolved, Slot } from '../proof-request.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { isThere, nodesIn, valuesAt } from '../sources.ts'

/** No source supplies the slot. */
interface LeftOut {
  /** Sources that ran without supplying it, if they have post-conditions. */
  readonly leftOutBy: readonly NodeSource[]
}

type NodeSource = Extract<Source, { readonly node: string }>
type Option = Source | LeftOut

/** For each slot its source, or that it has none; several where they cannot be distinguished. */
export type Choice = ReadonlyMap<Slot, readonly Option[]>

export function isLeftOut(option: Option): option is LeftOut {
  return 'leftOutBy' in option
}

/** Maximum number of combinations that are enumerated. */
const mostWorlds = 64

interface Setting {
  /** According to the schemas alone. */
  readonly world: World
  /** The same, restricted by the post-conditions of the nodes; empty when no run can produce it. */
  readonly assured: readonly World[]
  /**
   * These post-conditions verbatim: value sets (an abstract domain) cannot represent everything that a condition
   * states.
   */
  readonly said: readonly ParsedCondition[]
}

/** Returns the worlds in which conditions on these paths are decided. */
export function settingsFor(paths: readonly Path[], resolved: Resolved): readonly Setting[] {
  const slots = new Set(paths.map((path) => slotFor(path, resolved)).filter((slot) => slot !== undefined))
  return choicesFor([...slots], resolved).map((choice) => {
    const world = createWorld(lookupFor(choice, resolved))
    const said = assurances(choice, resolved)
    return { world, assured: assumeAll(said, world), said }
  })
}

/** Whether in every possible world the post-conditions imply the condition, or a node has exactly this post-condition. */
export function isAssured(condition: ParsedCondition, settings: readonly Setting[]): boolean {
  const possible = settings.filter(({ assured }) => assured.length > 0)
  const isTrue = ({ assured, said }: Setting) =>
    said.some(({ expr }) => jsonEqual(expr, condition.expr)) || verdictIn(condition, assured) === 'true'
  return possible.length > 0 && possible.every(isTrue)
}

/** Returns the verdict common to all possible worlds; `impossible` if no world is possible. */
export function verdictIn(condition: ParsedCondition, worlds: readonly World[]): Verdict {
  const verdicts = new Set(worlds.map((world) => decide(condition, world)))
  verdicts.delete('impossible')
  const [only] = verdicts
  return verdicts.size > 1 ? 'depends' : (only ?? 'impossible')
}

const bySlotName = new WeakMap<readonly Slot[], ReadonlyMap<string | undefined, Slot>>()

/** Returns the slot that contains a path: that of its first segment, or the whole answer. */
export function slotFor(path: Path, { slots }: Resolved): Slot | undefined {
  let index = bySlotName.get(slots)
  if (index === undefined) {
    index = new Map(slots.map((slot) => [slot.prefix[0], slot]))
    bySlotName.set(slots, index)
  }
  return index.get(path[0]) ?? index.get(undefined)
}

/**
 * Enumerates every combination of sources that a run can produce; falls back to a single one with all sources if there
 * are too many. With `nodeId`, only runs that start this node count.
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

/** The sources that may be the first available one. */
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

/** Over-approximation for too many combinations: one world in which each slot may have any of its sources. */
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
  const caller = getValueLookup(resolved.callerSchema)
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

/** Prefix of paths into the output of a node that the answer does not contain; no property starts with it. */
const ofNode = '\u0000'

/**
 * Rewrites the post-conditions of the nodes that the answer comes from as conditions on the answer. They also hold for
 * a node that ran and omitted a property: both its output and the answer lack the property.
 */
function assurances(choice: Choice, { byId }: Resolved): ParsedCondition[] {
  const origins = [...choice].flatMap(([{ prefix }, options]) => {
    const [option] = options
    if (options.length !== 1 || option === undefined) return []
    const sources = isLeftOut(option) ? option.leftOutBy : 'node' in option ? [option] : []
    return sources.map(({ node, pointer = '' }) => ({ node, from: tokens(pointer), prefix }))
  })
  return [...new Set(origins.map(({ node }) => node))].flatMap((node) => {
    const own = origins.filter((origin) => origin.node === node)
    return (byId.get(node)?.postConditions ?? []).flatMap((json) => {
      const parsed = parseCondition(json)
      if (!parsed.ok) return []
      const expr = mapPaths(parsed.condition.expr, (path) => {
        const origin = own.find(({ from }) => from.every((token, i) => path[i] === token))
        return origin ? [...origin.prefix, ...path.slice(origin.from.length)] : [ofNode + node, ...path]
      })
      return [{ expr }]
    })
  })
}
