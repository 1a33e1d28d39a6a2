/**
 * What a schema says at one location, ready for guiding a conversion: types, listed values, members, items, unions, with
 * `$ref` and `allOf` followed. Expects 2020-12. A shape only guides; whether a value is right is the validator's word.
 */
import { isObject, type JsonType, jsonType, own } from '../base/json.ts'
import { child, valueAt } from '../base/pointer.ts'
import type { JsonSchema } from './json-schema.ts'
import { referenceKeywords } from './keywords.ts'
import { collectNames, type Names } from './references/schema-names.ts'

/** Places in the schema, as JSON pointers, all of which apply to one value. */
export type Where = readonly string[]

interface Union {
  readonly pointer: string
  /** Pointers of the branches. */
  readonly branches: readonly string[]
}

/** A branch of a union, and what the schema says of a value that takes it. */
interface Choice {
  readonly pointer: string
  readonly shape: Shape
}

export interface Shape {
  readonly where: Where
  /** Allowed types in the order they are declared; empty when any is. `integer` and `number` are apart. */
  readonly types: readonly JsonType[]
  /** The values of `enum` or `const`. */
  readonly values: readonly unknown[] | undefined
  readonly required: ReadonlySet<string>
  /** Declared property names. */
  readonly names: readonly string[]
  readonly unions: readonly Union[]
  /** Pointers of the unions whose branch has been chosen and is part of `where`. */
  readonly settled: readonly string[]
  /** The branches of the first union. */
  readonly choices: readonly Choice[]
  readonly minimum: number | undefined
  readonly maximum: number | undefined
  /** Where the value of a member is described; empty when nothing is said of it. */
  member(name: string): Where
  /** Whether a member of that name is declared by name or by pattern. */
  declares(name: string): boolean
  /** Whether a member of that name is ruled out. */
  forbids(name: string): boolean
  item(index: number): Where
  /** Whether `items` says anything. */
  readonly describesItems: boolean
  findDefault(name: string): { readonly value: unknown } | undefined
}

type Keywords = Readonly<Record<string, unknown>>
type Part = { readonly pointer: string; readonly schema: Keywords }
/** Compiles the patterns of `patternProperties`. */
type Matcher = (pattern: string) => { test(text: string): boolean }

/** How many sub-schemas may apply to one location, references followed. */
const MOST_PARTS = 64

export class Shapes {
  readonly #root: JsonSchema
  readonly #matcher: Matcher
  readonly #shapes = new Map<string, Shape>()
  #names: Names | undefined

  constructor(root: JsonSchema, matcher: Matcher) {
    this.#root = root
    this.#matcher = matcher
  }

  /** The shape at a location; `settled` unions are those whose branch has been chosen and is part of `where`. */
  at(where: Where, settled: readonly string[] = []): Shape {
    const pointers = where.length === 1 ? (where[0] as string) : where.join('\n')
    const key = settled.length === 0 ? pointers : `${pointers}\n\n${settled.join('\n')}`
    let shape = this.#shapes.get(key)
    if (shape === undefined) {
      shape = this.#build(where, settled)
      if (this.#shapes.size > 5_000) this.#shapes.clear()
      this.#shapes.set(key, shape)
    }
    return shape
  }

  /** The property names that a shape declares, in any of its branches. */
  namesOf(shape: Shape): ReadonlySet<string> {
    return new Set([shape, ...this.branchesOf(shape)].flatMap(({ names }) => names))
  }

  /** What each branch of its unions says alone. */
  branchesOf({ unions }: Shape): readonly Shape[] {
    return unions.flatMap(({ branches }) => branches.map((pointer) => this.at([pointer])))
  }

  #build(where: Where, settled: readonly string[]): Shape {
    const parts = this.#parts(where)
    return new PartsShape(where, parts, { settled, matcher: this.#matcher, shapes: this })
  }

  /** Every sub-schema that applies: `$ref` and `allOf` followed, each pointer once. */
  #parts(where: Where): Part[] {
    const parts: Part[] = []
    const seen = new Set<string>()
    const queue = [...where]
    for (const pointer of queue) {
      if (seen.has(pointer) || parts.length >= MOST_PARTS) continue
      seen.add(pointer)
      const schema = valueAt(this.#root, pointer)
      if (!isObject(schema)) continue
      parts.push({ pointer, schema })
      for (const keyword of referenceKeywords) {
        const ref = schema[keyword]
        const target = typeof ref === 'string' ? this.#target(schema, ref) : undefined
        if (target !== undefined) queue.push(target)
      }
      if (Array.isArray(schema['allOf'])) {
        schema['allOf'].forEach((_, index) => {
          queue.push(`${pointer}/allOf/${index}`)
        })
      }
    }
    return parts
  }

  #target(schema: Keywords, ref: string): string | undefined {
    this.#names ??= collectNames(this.#root)
    return this.#names.resolve(ref, this.#names.findResource(schema) ?? this.#names.root)?.pointer
  }
}

class PartsShape implements Shape {
  declare readonly where: Where
  declare readonly types: readonly JsonType[]
  declare readonly values: readonly unknown[] | undefined
  declare readonly required: ReadonlySet<string>
  declare readonly names: readonly string[]
  declare readonly unions: readonly Union[]
  declare readonly settled: readonly string[]
  declare readonly minimum: number | undefined
  declare readonly maximum: number | undefined
  declare readonly describesItems: boolean
  readonly #parts: readonly Part[]
  readonly #patterns: readonly { part: Part; pattern: string; test: (name: string) => boolean }[]
  readonly #members = new Map<string, Where>()
  readonly #forbidden = new Map<string, boolean>()
  readonly #named: ReadonlySet<string>
  /** How many items have locations of their own. */
  readonly #prefix: number
  /** Where every later item is described. */
  readonly #rest: Where
  readonly #shapes: Shapes
  #choices: readonly Choice[] | undefined

  constructor(
    where: Where,
    parts: readonly Part[],
    context: { settled: readonly string[]; matcher: Matcher; shapes: Shapes },
  ) {
    this.where = where
    this.#shapes = context.shapes
    this.#parts = parts
    this.values = getValues(parts)
    this.types = getTypes(parts, this.values)
    this.required = new Set(parts.flatMap(({ schema }) => strings(schema['required'])))
    this.names = [...new Set(parts.flatMap(({ schema }) => Object.keys(record(schema['properties']))))]
    this.#named = new Set(this.names)
    this.settled = context.settled
    this.unions = getUnions(parts).filter((union) => !context.settled.includes(union.pointer))
    this.minimum = bound(parts, 'minimum', 'exclusiveMinimum', Math.max)
    this.maximum = bound(parts, 'maximum', 'exclusiveMaximum', Math.min)
    this.describesItems = parts.some(
      ({ schema }) => schema['items'] !== undefined || schema['prefixItems'] !== undefined,
    )
    this.#prefix = Math.max(0, ...parts.map(({ schema }) => getPrefix(schema).length))
    this.#rest = this.#itemAt(this.#prefix)
    this.#patterns = parts.flatMap((part) =>
      Object.keys(record(part.schema['patternProperties'])).map((pattern) => {
        const compiled = context.matcher(pattern)
        return { part, pattern, test: (name: string) => compiled.test(name) }
      }),
    )
  }

  get choices(): readonly Choice[] {
    this.#choices ??= this.#choose()
    return this.#choices
  }

  #choose(): Choice[] {
    const [union] = this.unions
    if (union === undefined) return []
    const settled = [...this.settled, union.pointer]
    return union.branches.map((pointer) => ({
      pointer,
      shape: this.#shapes.at([...this.where, pointer], settled),
    }))
  }

  member(name: string): Where {
    let where = this.#members.get(name)
    if (where === undefined) {
      where = this.#parts.flatMap((part) => this.#memberIn(part, name))
      if (this.#members.size < 1_000) this.#members.set(name, where)
    }
    return where
  }

  #memberIn(part: Part, name: string): string[] {
    const found: string[] = []
    if (Object.hasOwn(record(part.schema['properties']), name))
      found.push(child(`${part.pointer}/properties`, name))
    for (const p of this.#patterns) {
      if (p.part === part && p.test(name)) found.push(child(`${part.pointer}/patternProperties`, p.pattern))
    }
    if (found.length === 0 && isObject(part.schema['additionalProperties'])) {
      found.push(`${part.pointer}/additionalProperties`)
    }
    return found
  }

  declares(name: string): boolean {
    return this.#named.has(name) || this.#patterns.some((p) => p.test(name))
  }

  forbids(name: string): boolean {
    let forbidden = this.#forbidden.get(name)
    if (forbidden === undefined) {
      forbidden = this.#isForbidden(name)
      if (this.#forbidden.size < 1_000) this.#forbidden.set(name, forbidden)
    }
    return forbidden
  }

  #isForbidden(name: string): boolean {
    return this.#parts.some((part) => {
      const { schema } = part
      if (schema['additionalProperties'] === false) return this.#memberIn(part, name).length === 0
      return schema['unevaluatedProperties'] === false && this.unions.length === 0 && !this.declares(name)
    })
  }

  item(index: number): Where {
    return index < this.#prefix ? this.#itemAt(index) : this.#rest
  }

  #itemAt(index: number): Where {
    return this.#parts.flatMap(({ pointer, schema }) => {
      if (index < getPrefix(schema).length) return [`${pointer}/prefixItems/${index}`]
      return isObject(schema['items']) ? [`${pointer}/items`] : []
    })
  }

  findDefault(name: string): { readonly value: unknown } | undefined {
    for (const { schema } of this.#parts) {
      const property = own(record(schema['properties']), name)
      if (isObject(property) && Object.hasOwn(property, 'default')) return { value: property['default'] }
    }
    return undefined
  }
}

function record(value: unknown): Keywords {
  return isObject(value) ? value : {}
}

function getPrefix(schema: Keywords): readonly unknown[] {
  const prefix = schema['prefixItems']
  return Array.isArray(prefix) ? prefix : []
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function getValues(parts: readonly Part[]): readonly unknown[] | undefined {
  let values: readonly unknown[] | undefined
  for (const { schema } of parts) {
    const here = Object.hasOwn(schema, 'const')
      ? [schema['const']]
      : Array.isArray(schema['enum'])
        ? schema['enum']
        : undefined
    if (here !== undefined)
      values = values === undefined ? here : values.filter((value) => here.includes(value))
  }
  return values
}

/** Declared types, met across parts; else the types of the listed values; else what the other keywords talk about. */
function getTypes(parts: readonly Part[], values: readonly unknown[] | undefined): JsonType[] {
  let types: JsonType[] | undefined
  for (const { schema } of parts) {
    const here =
      typeof schema['type'] === 'string'
        ? [schema['type'] as JsonType]
        : (strings(schema['type']) as JsonType[])
    if (here.length === 0) continue
    types = types === undefined ? here : meet(types, here)
  }
  if (types !== undefined) return types
  if (values !== undefined) return [...new Set(values.map(jsonType))].filter((type) => type !== undefined)
  return []
}

function meet(a: readonly JsonType[], b: readonly JsonType[]): JsonType[] {
  return a.flatMap((type) => {
    if (b.includes(type)) return [type]
    if (type === 'integer' && b.includes('number')) return [type]
    return type === 'number' && b.includes('integer') ? ['integer' as const] : []
  })
}

function getUnions(parts: readonly Part[]): Union[] {
  return parts.flatMap(({ pointer, schema }) =>
    ['anyOf', 'oneOf'].flatMap((keyword) => {
      const branches = schema[keyword]
      if (!Array.isArray(branches)) return []
      const union = `${pointer}/${keyword}`
      return [{ pointer: union, branches: branches.map((_, index) => `${union}/${index}`) }]
    }),
  )
}

function bound(
  parts: readonly Part[],
  a: string,
  b: string,
  pick: (...n: number[]) => number,
): number | undefined {
  const found = parts.flatMap(({ schema }) => [schema[a], schema[b]]).filter((n) => typeof n === 'number')
  return found.length === 0 ? undefined : pick(...found)
}
