/**
 * Infers TypeScript types from schemas; `parse` uses them for its result. An inferred type is never narrower than the
 * values the schema allows: where TypeScript cannot express a schema, the type is `unknown`.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'

/** The value type of a schema: the output of a Standard Schema, or the value of a JSON Schema literal or type name. */
export type Infer<S> = 0 extends 1 & S
  ? unknown
  : S extends StandardSchemaV1
    ? StandardSchemaV1.InferOutput<S>
    : S extends string
      ? NamedValue<S>
      : JsonSchemaValue<S>

/** The type of the values that a JSON Schema literal allows. */
export type JsonSchemaValue<S> = S extends unknown ? Keywords<S, S, []> : never

/**
 * A value that is still streaming in: unvalidated and not yet converted. Every member may be absent, strings may be
 * cut, and a number may be quoted; so scalars are `unknown`, a list may still become another type, and members of every
 * union branch may appear. Narrow before use: `typeof x === 'string'`, `Array.isArray(x)`.
 */
export type PartialValue<T> = unknown extends T
  ? unknown
  : [Extract<T, Scalar>] extends [never]
    ?
        | PartialList<Extract<T, readonly unknown[]>>
        | PartialObject<Exclude<T, Absent | readonly unknown[]>>
        | null
    : unknown

/**
 * The partial type of a schema. For a Standard Schema it derives from the input type, because transforms have not run.
 */
export type InferPartial<S> = 0 extends 1 & S
  ? unknown
  : S extends StandardSchemaV1
    ? PartialValue<StandardSchemaV1.InferInput<S>>
    : PartialValue<Infer<S>>

type Scalar = string | number | bigint | boolean | symbol | Date
type Absent = null | undefined

type PartialList<L extends readonly unknown[]> = [L] extends [never]
  ? never
  : PartialValue<L[number]>[] | string | number | boolean | { readonly [key: string]: unknown }

type PartialObject<T> = [T] extends [never]
  ? never
  : { readonly [K in KeyOf<T>]?: PartialValue<MemberOf<T, K>> }

/** The keys and members of every branch of a union. */
type KeyOf<T> = T extends unknown ? keyof T : never
type MemberOf<T, K> = T extends unknown ? (K extends keyof T ? T[K] : never) : never

interface BasicTypes {
  string: string
  number: number
  integer: number
  boolean: boolean
  null: null
}

/** Type names such as `string[]`; a name that is not a literal type infers `unknown`. */
type NamedValue<S extends string> = S extends `${infer Item}[]`
  ? Item extends ''
    ? unknown[]
    : NamedValue<Item>[]
  : S extends keyof BasicTypes
    ? BasicTypes[S]
    : S extends 'array'
      ? unknown[]
      : S extends 'object'
        ? { [key: string]: unknown }
        : unknown

/** Recursion limit for references and unions at one location of a value: schemas may be recursive. */
type MostSteps = 12
type Steps = readonly 0[]

/** A sub-schema. One with its own `$id` is a new base for references, which these types do not resolve: `unknown`. */
type At<S, Root, D extends Steps = []> = S extends { readonly $id: unknown } | { readonly id: string }
  ? unknown
  : Keywords<S, Root, D>

type Keywords<S, Root, D extends Steps> = D['length'] extends MostSteps
  ? unknown
  : S extends false
    ? never
    : S extends { readonly nullable: infer N }
      ? (N extends false ? never : null) | Applied<S, Root, [...D, 0]>
      : Applied<S, Root, [...D, 0]>

/** Ignores keywords beside `$ref`: they only narrow the type, and older drafts ignore them. */
type Applied<S, Root, D extends Steps> = S extends { readonly $ref: infer Ref }
  ? Referred<Ref, Root, D>
  : OwnType<S, Root, D> &
      (S extends { readonly allOf: infer L } ? AllOf<L, Root, D> : unknown) &
      (S extends { readonly anyOf: infer L } ? AnyOf<L, Root, D> : unknown) &
      (S extends { readonly oneOf: infer L } ? AnyOf<L, Root, D> : unknown)

type Referred<Ref, Root, D extends Steps> = Ref extends '#'
  ? Keywords<Root, Root, D>
  : Ref extends `#/${infer Folder extends '$defs' | 'definitions'}/${infer Name}`
    ? Name extends `${string}${'/' | '~' | '%'}${string}`
      ? unknown
      : Root extends { readonly [F in Folder]: { readonly [N in Name]: infer S } }
        ? At<S, Root, D>
        : unknown
    : unknown

type AllOf<L, Root, D extends Steps> = L extends readonly [infer S, ...infer Rest]
  ? At<S, Root, D> & AllOf<Rest, Root, D>
  : unknown

type AnyOf<L, Root, D extends Steps> = L extends readonly (infer S)[]
  ? S extends unknown
    ? At<S, Root, D>
    : never
  : unknown

/**
 * Keywords the draft supports: `const` since draft-06, `prefixItems` since 2020-12; before that, `items` holds tuples.
 */
type Knows<Root> = Root extends { readonly $schema: infer Uri }
  ? Uri extends `${string}${'2020-12' | 'oas/3.1'}${string}`
    ? 'const' | 'prefixItems'
    : Uri extends `${string}${'draft-06' | 'draft-07' | '2019-09'}${string}`
      ? 'const' | 'items'
      : never
  : 'const' | 'prefixItems' | 'items'

type OwnType<S, Root, D extends Steps> = S extends { readonly const: infer C }
  ? 'const' extends Knows<Root>
    ? Writable<C>
    : unknown
  : S extends { readonly enum: readonly (infer E)[] }
    ? Writable<E>
    : S extends { readonly type: infer T }
      ? T extends readonly (infer Each)[]
        ? OfType<Each, S, Root, D>
        : OfType<T, S, Root, D>
      : unknown

type Writable<T> = T extends object ? { -readonly [K in keyof T]: Writable<T[K]> } : T

type OfType<T, S, Root, D extends Steps> = T extends keyof BasicTypes
  ? BasicTypes[T]
  : T extends 'object'
    ? ObjectOf<S, Root>
    : T extends 'array'
      ? ListOf<S, Root, D>
      : unknown

type ObjectOf<S, Root> = S extends { readonly properties: infer P }
  ? string extends keyof P
    ? { [key: string]: unknown }
    : Flat<
        {
          -readonly [K in keyof P as K extends RequiredNames<S> ? K : never]-?: At<P[K], Root>
        } & {
          -readonly [K in keyof P as K extends RequiredNames<S> ? never : K]?: At<P[K], Root>
        } & { [K in Exclude<RequiredNames<S>, keyof P>]: OtherMember<S, Root> }
      >
  : Flat<{ [key: string]: OtherMember<S, Root> } & { [K in RequiredNames<S>]: OtherMember<S, Root> }>

/** One object type for an intersection. `& {}` makes editors and errors show its members instead of this name. */
type Flat<T> = { [K in keyof T]: T[K] } & {}

/** Names of required members. If `required` is not a literal type, every member counts as optional. */
type RequiredNames<S> = S extends { readonly required: readonly (infer N)[] }
  ? string extends N
    ? never
    : Extract<N, string>
  : never

type OtherMember<S, Root> = S extends { readonly patternProperties: unknown }
  ? unknown
  : S extends { readonly additionalProperties: infer A }
    ? At<A, Root>
    : unknown

type ListOf<S, Root, D extends Steps> = S extends { readonly prefixItems: infer P }
  ? 'prefixItems' extends Knows<Root>
    ? Tuple<P, S, S extends { readonly items: infer Rest } ? Rest : true, Root, D>
    : unknown[]
  : S extends { readonly items: infer I }
    ? I extends readonly unknown[]
      ? 'items' extends Knows<Root>
        ? Tuple<I, S, S extends { readonly additionalItems: infer Rest } ? Rest : true, Root, D>
        : unknown[]
      : At<I, Root>[]
    : unknown[]

/** Items from `minItems` on may be absent. */
type Tuple<P, S, Rest, Root, D extends Steps> = P extends readonly [unknown, ...unknown[]]
  ? Items<P, S extends { readonly minItems: infer M } ? M : 0, Rest, { root: Root; steps: D }>
  : unknown[]

interface SchemaLocation {
  root: unknown
  steps: Steps
}

type Items<P, Min, Rest, In extends SchemaLocation, Made extends unknown[] = []> = Made['length'] extends Min
  ? [...Made, ...Absentable<P, Rest, In>]
  : P extends readonly [infer S, ...infer More]
    ? Items<More, Min, Rest, In, [...Made, At<S, In['root'], In['steps']>]>
    : [...Made, ...RestOf<Rest, In>]

type Absentable<P, Rest, In extends SchemaLocation, Made extends unknown[] = []> = P extends readonly [
  infer S,
  ...infer More,
]
  ? Absentable<More, Rest, In, [...Made, At<S, In['root'], In['steps']>?]>
  : [...Made, ...RestOf<Rest, In>]

type RestOf<Rest, In extends SchemaLocation> = Rest extends false ? [] : At<Rest, In['root'], In['steps']>[]
