/**
 * The proof half of `fit`: walks both schemas together and returns the first location where "every value of A satisfies B"
 * could not be shown. A is widened where it is hard to say (its `not`, its patterns), B never is.
 */
import { canonicalJson } from '../../base/canonical.ts'
import { isObject, type Json, jsonEqual, own } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import { type CompileOptions, compileSchema } from '../compile/compile.ts'
import {
  getItemKeywords,
  getItemSchemas,
  getList,
  getMember,
  getRecord,
  type Held,
  openNode,
  type Part,
  prefixLength,
} from '../values/schema-node.ts'
import { lookupIn, ownSet } from '../values/schema-values.ts'
import { isAbsent, listed, meet, type ValueSet } from '../values/value-set.ts'
import { asserting, fitRows, type Left } from './fit-rows.ts'

interface Gap {
  readonly pointer: Pointer
  readonly keyword: string
}

export function proofGap(from: Held, to: Held, options: CompileOptions = {}): Gap | undefined {
  return gapIn({ base: [], fresh: [from] }, to, { pointer: '', steps: { left: mostSteps }, options })
}

const mostSteps = 3_000

interface Spot {
  readonly pointer: Pointer
  readonly steps: { left: number }
  readonly options: CompileOptions
}

interface Side {
  readonly base: readonly Part[]
  readonly fresh: readonly Held[]
}

function gapIn(from: Side, to: Held, spot: Spot): Gap | undefined {
  if (to.schema === true || (isObject(to.schema) && Object.keys(to.schema).length === 0)) return undefined
  if (--spot.steps.left < 0) return { pointer: spot.pointer, keyword: '$ref' }
  const { parts, unions, impossible } = openNode(from.base, from.fresh)
  if (impossible) return undefined
  const set = ownSet(parts)
  if (isAbsent(set)) return undefined
  if (parts.some((part) => sameSchema(part, to))) return undefined
  const gap = gapOfParts({ parts, set }, to, spot)
  const [union] = unions
  if (gap === undefined || union === undefined) return gap
  // Case by case: each branch together with all the rest.
  for (const branch of union.branches) {
    const inBranch = gapIn({ base: parts, fresh: [branch, ...unions.slice(1).map(asHeld)] }, to, spot)
    if (inBranch !== undefined) return inBranch
  }
  return undefined
}

/** A union as a schema of its own, so that it is taken apart again with the next branch. */
function asHeld({ keyword, branches }: { keyword: string; branches: readonly Held[] }): Held {
  const scope = (branches[0] as Held).scope
  return { schema: { [keyword]: branches.map((branch) => branch.schema) }, scope }
}

function gapOfParts(left: Left, to: Held, spot: Spot): Gap | undefined {
  if (to.schema === false) return { pointer: spot.pointer, keyword: 'false' }
  const target = openNode([], [to])
  if (target.impossible) return { pointer: spot.pointer, keyword: 'false' }
  if (!target.complete) return { pointer: spot.pointer, keyword: 'allOf' }
  for (const part of target.parts) {
    for (const keyword of Object.keys(part.schema)) {
      const gap = gapOfKeyword(left, { part, keyword }, spot)
      if (gap !== undefined) return gap
    }
  }
  return undefined
}

interface Wanted {
  readonly part: Part
  readonly keyword: string
}

function gapOfKeyword(left: Left, { part, keyword }: Wanted, spot: Spot): Gap | undefined {
  if (!asserting.has(keyword)) return undefined
  if (keyword === '$ref' && part.scope.resolve(part.schema) !== undefined) return undefined
  const here = { pointer: spot.pointer, keyword }
  if (left.parts.some((each) => sameKeyword(each, part, keyword))) return undefined
  switch (keyword) {
    case 'properties':
      return firstGap(Object.keys(getRecord(part.schema, keyword)), (name) =>
        memberGap(left, { part, name }, spot),
      )
    case 'additionalProperties':
      return additionalGap(left, part, spot)
    case 'prefixItems':
    case 'items':
    case 'additionalItems':
      return itemsGap(left, part, spot)
    case 'anyOf':
    case 'oneOf':
      return unionGap(left, { part, keyword }, spot)
  }
  const row = fitRows.get(keyword)
  if (row?.(left, part)) return undefined
  return eachListed(left, { part, keyword }, spot) ? undefined : here
}

function firstGap<T>(list: readonly T[], gap: (each: T) => Gap | undefined): Gap | undefined {
  for (const each of list) {
    const found = gap(each)
    if (found !== undefined) return found
  }
  return undefined
}

function memberGap(left: Left, { part, name }: { part: Part; name: string }, spot: Spot): Gap | undefined {
  if (!left.set.objects) return undefined
  const member = getMember(left.parts, name)
  if (member.forbidden) return undefined
  const to = { schema: getRecord(part.schema, 'properties')[name], scope: part.scope }
  return gapIn({ base: [], fresh: member.held }, to, { ...spot, pointer: child(spot.pointer, name) })
}

/** Members that the target does not name: those the source names, and all others that it may have. */
function additionalGap(left: Left, part: Part, spot: Spot): Gap | undefined {
  const keyword = 'additionalProperties'
  const to = { schema: own(part.schema, keyword), scope: part.scope }
  if (!left.set.objects || to.schema === true) return undefined
  if (Object.keys(getRecord(part.schema, 'patternProperties')).length > 0)
    return { pointer: spot.pointer, keyword }
  const named = getRecord(part.schema, 'properties')
  const names = new Set(left.parts.flatMap(({ schema }) => Object.keys(getRecord(schema, 'properties'))))
  const others = [...names].filter((name) => !Object.hasOwn(named, name))
  const gap = firstGap(others, (name) => {
    const member = getMember(left.parts, name)
    if (member.forbidden) return undefined
    return gapIn({ base: [], fresh: member.held }, to, { ...spot, pointer: child(spot.pointer, name) })
  })
  if (gap !== undefined) return gap
  const closed = left.parts.filter(
    ({ schema }) =>
      own(schema, keyword) !== undefined && Object.keys(getRecord(schema, 'patternProperties')).length === 0,
  )
  const rest = closed.map(({ schema, scope }) => ({ schema: own(schema, keyword), scope }))
  const inRest = gapIn({ base: [], fresh: rest }, to, spot)
  return inRest && { pointer: spot.pointer, keyword }
}

function itemsGap(left: Left, part: Part, spot: Spot): Gap | undefined {
  const max = left.set.lists?.max ?? 0
  const { prefix, rest } = getItemKeywords(part)
  const longest = Math.min(Math.max(prefixLength(left.parts), prefix.length), max, 1_000)
  const at = (index: number | 'rest', to: unknown) =>
    to === undefined
      ? undefined
      : gapIn(
          { base: [], fresh: getItemSchemas(left.parts, index) },
          { schema: to, scope: part.scope },
          {
            ...spot,
            pointer: child(spot.pointer, index === 'rest' ? longest : index),
          },
        )
  for (let index = 0; index < longest; index++) {
    const gap = at(index, index < prefix.length ? prefix[index] : rest)
    if (gap !== undefined) return gap
  }
  return max > longest ? at('rest', rest) : undefined
}

function unionGap(left: Left, { part, keyword }: Wanted, spot: Spot): Gap | undefined {
  const branches = getList(part.schema, keyword).map((schema) => ({ schema, scope: part.scope }))
  const fits = (from: Left, to: Held) => gapIn({ base: from.parts, fresh: [] }, to, spot) === undefined
  const apart = (from: Left, to: Held) => isAbsent(meet(from.set, lookupIn([to])([])))
  const covered = (from: Left) =>
    branches.some(
      (branch, index) =>
        fits(from, branch) &&
        (keyword === 'anyOf' || branches.every((other, i) => i === index || apart(from, other))),
    )
  if (covered(left) || eachListed(left, { part, keyword }, spot)) return undefined
  const byType = typesIn(left.set).map((type): Left => {
    const parts = [...left.parts, { schema: { type }, scope: part.scope }]
    return { parts, set: ownSet(parts) }
  })
  return byType.length > 1 && byType.every(covered) ? undefined : { pointer: spot.pointer, keyword }
}

function typesIn(set: ValueSet): string[] {
  const types: [string, unknown][] = [
    ['null', set.nil],
    ['boolean', set.booleans],
    ['number', set.numbers],
    ['string', set.strings.length],
    ['array', set.lists],
    ['object', set.objects],
  ]
  return types.filter(([, possible]) => possible).map(([type]) => type)
}

/** Few values on the left: each is asked. */
function eachListed(left: Left, { part, keyword }: Wanted, { options }: Spot): boolean {
  const values = listed(left.set)
  if (values === undefined || mayRefer(part.schema)) return false
  const alone = Object.fromEntries(
    together(keyword).flatMap((each) =>
      Object.hasOwn(part.schema, each) ? [[each, part.schema[each]]] : [],
    ),
  )
  const compiled = compileSchema(alone, options)
  return values.every((value: Json) => compiled.accepts(value))
}

/** Keywords that mean something only beside each other. */
const families = [
  ['properties', 'patternProperties', 'additionalProperties'],
  ['items', 'prefixItems'],
  ['if', 'then', 'else'],
  ['contains', 'minContains', 'maxContains'],
]

function together(keyword: string): readonly string[] {
  return families.find((family) => family.includes(keyword)) ?? [keyword]
}

const unevaluated = /"(\$ref|\$dynamicRef|unevaluated\w+)"/

function mayRefer(schema: unknown): boolean {
  return unevaluated.test(JSON.stringify(schema))
}

/** The same words mean the same where nothing in them depends on the document or on their neighbours. */
function sameSchema(part: Part, to: Held): boolean {
  if (part.schema === to.schema) return true
  if (!isObject(to.schema)) return false
  if (Object.keys(part.schema).length !== Object.keys(to.schema).length || !jsonEqual(part.schema, to.schema))
    return false
  return !mayRefer(to.schema) || sameDocument(part, to)
}

function sameDocument(a: Held, b: Held): boolean {
  return a.scope.root === b.scope.root || canonicalJson(a.scope.root) === canonicalJson(b.scope.root)
}

function sameKeyword(a: Part, b: Part, keyword: string): boolean {
  if (keyword.startsWith('unevaluated')) return false
  return together(keyword).every((each) => {
    const [left, right] = [own(a.schema, each), own(b.schema, each)]
    return left === right || (jsonEqual(left, right) && !mayRefer(left ?? null))
  })
}
