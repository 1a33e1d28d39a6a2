/**
 * Decides whether an object that is assembled from parts satisfies a schema: which members it has is known, and of each
 * member its schema. Three-valued like conditions (may hold, may fail), one row per keyword that speaks about an object as
 * a whole. A keyword that cannot be decided depends, so a verdict is never wrong; it may be missing.
 */
import { isObject, type Json, own } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import { refers } from '../build/combine.ts'
import { type CompileOptions, compileSchema } from '../compile/compile.ts'
import type { JsonSchema } from '../json-schema.ts'
import { getList, getRecord, type Held, hold, numberAt, type Part } from '../values/schema-node.ts'
import { isVacantTogether } from '../values/schema-values.ts'
import { always, any, depends, every, negate, never, type Truth } from '../values/truth.ts'
import { proofGap } from './fit-proof.ts'

interface AssembledMember {
  readonly schema: JsonSchema
  /** The member is always there. */
  readonly certain: boolean
}

/** Every member that the object may have; it has no others. */
export type Assembled = ReadonlyMap<string, AssembledMember>

export interface KeywordTruth {
  /** In the schema. */
  readonly pointer: Pointer
  readonly keyword: string
  readonly truth: Truth
}

/** What each keyword at the root of a schema says about the object; keywords that always hold are left out. */
export function openKeywords(
  object: Assembled,
  schema: JsonSchema,
  options: CompileOptions = {},
): readonly KeywordTruth[] {
  const held = hold(schema)
  if (!isObject(held.schema)) return []
  const part: Part = { schema: held.schema, scope: held.scope }
  const site: Site = { object, part, question: { options, steps: { left: mostSteps } } }
  return Object.keys(part.schema).flatMap((keyword) => {
    const truth = truthOfKeyword(keyword, site)
    return truth.mayFail ? [{ pointer: child('', keyword), keyword, truth }] : []
  })
}

/** Sub-schemas and members inspected for one question; after that everything depends. */
const mostSteps = 2_000

interface Question {
  readonly options: CompileOptions
  readonly steps: { left: number }
}

interface Site {
  readonly object: Assembled
  readonly part: Part
  readonly question: Question
}

type Row = (site: Site) => Truth

function getTruth(schema: unknown, site: Site): Truth {
  if (--site.question.steps.left < 0) return depends
  if (schema === false) return never
  if (!isObject(schema)) return always
  const inner = { ...site, part: { schema, scope: site.part.scope } }
  return every(Object.keys(schema).map((keyword) => truthOfKeyword(keyword, inner)))
}

function truthOfKeyword(keyword: string, site: Site): Truth {
  return rows.get(keyword)?.(site) ?? always
}

const rows: ReadonlyMap<string, Row> = new Map<string, Row>([
  ['type', ({ part }) => ([own(part.schema, 'type')].flat().includes('object') ? always : never)],
  ['const', (site) => isListed([own(site.part.schema, 'const') as Json], site)],
  ['enum', (site) => isListed(getList(site.part.schema, 'enum') as Json[], site)],
  ['required', (site) => every(names(site, 'required').map((name) => isPresent(name, site)))],
  ['minProperties', (site) => negate(hasFewerThan(numberAt(site.part.schema, 'minProperties') ?? 0, site))],
  ['maxProperties', (site) => hasFewerThan((numberAt(site.part.schema, 'maxProperties') ?? 0) + 1, site)],
  ['properties', (site) => ofMembers(site, (name) => getRecord(site.part.schema, 'properties')[name])],
  ['patternProperties', patternProperties],
  [
    'additionalProperties',
    (site) =>
      ofMembers(site, (name) =>
        isNamed(name, site) ? undefined : own(site.part.schema, 'additionalProperties'),
      ),
  ],
  ['propertyNames', propertyNames],
  ['dependentRequired', (site) => ofDependencies('dependentRequired', site)],
  ['dependentSchemas', (site) => ofDependencies('dependentSchemas', site)],
  ['dependencies', (site) => ofDependencies('dependencies', site)],
  ['allOf', (site) => every(branches('allOf', site))],
  ['anyOf', (site) => any(branches('anyOf', site))],
  ['oneOf', (site) => exactlyOne(branches('oneOf', site))],
  ['not', (site) => negate(getTruth(own(site.part.schema, 'not'), site))],
  ['if', conditional],
  ['$ref', reference],
  ['$dynamicRef', () => depends],
  ['$recursiveRef', () => depends],
  ['unevaluatedProperties', unevaluatedProperties],
])

const names = ({ part }: Site, keyword: string) => getList(part.schema, keyword).map(String)

const branches = (keyword: string, site: Site) =>
  getList(site.part.schema, keyword).map((branch) => getTruth(branch, site))

function isPresent(name: string, { object }: Site): Truth {
  const member = object.get(name)
  if (member === undefined) return never
  return member.certain ? always : depends
}

function hasFewerThan(limit: number, { object }: Site): Truth {
  const certain = [...object.values()].filter((member) => member.certain).length
  return { mayHold: certain < limit, mayFail: object.size >= limit }
}

/** Each member that may be there satisfies the schema that `schemaFor` names; `undefined` says nothing about it. */
function ofMembers(site: Site, schemaFor: (name: string) => unknown): Truth {
  return every(
    [...site.object].map(([name, { schema }]) => {
      const wanted = schemaFor(name)
      if (wanted === undefined) return always
      return any([negate(isPresent(name, site)), satisfies(schema, wanted, site)])
    }),
  )
}

/** Every value of the first schema satisfies the second, none does, or it depends. */
function satisfies(schema: JsonSchema, wanted: unknown, { part, question }: Site): Truth {
  if (--question.steps.left < 0) return depends
  const target: Held = { schema: wanted, scope: part.scope }
  const source = hold(schema)
  if (proofGap(source, target, question.options) === undefined) return always
  if (isVacantTogether([source, target])) return never
  // One value that is known: the validator knows.
  const known = isObject(schema) && Object.hasOwn(schema, 'const') && !refers(wanted as JsonSchema)
  if (!known) return depends
  return compileSchema(wanted as JsonSchema, question.options).accepts(schema['const']) ? depends : never
}

/** Named by `properties`, or matched by a pattern. */
function isNamed(name: string, site: Site): boolean {
  const { schema } = site.part
  return (
    Object.hasOwn(getRecord(schema, 'properties'), name) ||
    Object.keys(getRecord(schema, 'patternProperties')).some((pattern) => matches(pattern, name, site))
  )
}

function matches(pattern: string, name: string, { question }: Site): boolean {
  return compileSchema({ type: 'string', pattern }, question.options).accepts(name)
}

function patternProperties(site: Site): Truth {
  const patterns = Object.entries(getRecord(site.part.schema, 'patternProperties'))
  return every(
    patterns.map(([pattern, wanted]) =>
      ofMembers(site, (name) => (matches(pattern, name, site) ? wanted : undefined)),
    ),
  )
}

function propertyNames(site: Site): Truth {
  const wanted = own(site.part.schema, 'propertyNames')
  return every(
    [...site.object.keys()].map((name) =>
      any([negate(isPresent(name, site)), satisfies({ const: name }, wanted, site)]),
    ),
  )
}

/** If a member is there, others are (a list of names), or the object satisfies another schema. */
function ofDependencies(keyword: string, site: Site): Truth {
  return every(
    Object.entries(getRecord(site.part.schema, keyword)).map(([name, wanted]) => {
      const follows = Array.isArray(wanted)
        ? every(wanted.map((each) => isPresent(String(each), site)))
        : getTruth(wanted, site)
      return any([negate(isPresent(name, site)), follows])
    }),
  )
}

function exactlyOne(truths: readonly Truth[]): Truth {
  const possible = truths.filter(({ mayHold }) => mayHold).length
  const certain = truths.filter(({ mayFail }) => !mayFail).length
  return { mayHold: possible > 0 && certain < 2, mayFail: possible !== 1 || certain !== 1 }
}

function conditional(site: Site): Truth {
  const { schema } = site.part
  const [test, then, otherwise] = [own(schema, 'if'), own(schema, 'then'), own(schema, 'else')].map((each) =>
    getTruth(each, site),
  ) as [Truth, Truth, Truth]
  return {
    mayHold: (test.mayHold && then.mayHold) || (test.mayFail && otherwise.mayHold),
    mayFail: (test.mayHold && then.mayFail) || (test.mayFail && otherwise.mayFail),
  }
}

function reference(site: Site): Truth {
  const target = site.part.scope.resolve(site.part.schema)
  return target === undefined ? depends : getTruth(target, site)
}

/** Equal to one of the values: then it has exactly the members of that value. */
function isListed(values: readonly Json[], { object }: Site): Truth {
  const mayBe = (value: Json) => {
    if (!isObject(value)) return false
    const keys = Object.keys(value)
    const fits = keys.every((key) => {
      const member = object.get(key)
      return member !== undefined && !isVacantTogether([hold(member.schema), hold({ const: value[key] })])
    })
    return fits && [...object].every(([name, { certain }]) => !certain || keys.includes(name))
  }
  return values.some(mayBe) ? depends : never
}

function unevaluatedProperties(site: Site): Truth {
  const wanted = own(site.part.schema, 'unevaluatedProperties')
  return every(
    [...site.object].map(([name, { schema }]) =>
      any([negate(isPresent(name, site)), isEvaluated(name, site, true), satisfies(schema, wanted, site)]),
    ),
  )
}

/** Sub-schemas that apply to some objects only; validators disagree about which members these evaluate. */
const sometimes = [
  'anyOf',
  'oneOf',
  'if',
  'not',
  'dependentSchemas',
  'dependencies',
  '$dynamicRef',
  '$recursiveRef',
]

/** Whether a schema that applies to the object names the member, other than by `unevaluatedProperties` at its `top`. */
function isEvaluated(name: string, site: Site, top: boolean): Truth {
  const { schema, scope } = site.part
  if (--site.question.steps.left < 0 || sometimes.some((keyword) => Object.hasOwn(schema, keyword)))
    return depends
  if (isNamed(name, site) || Object.hasOwn(schema, 'additionalProperties')) return always
  if (!top && Object.hasOwn(schema, 'unevaluatedProperties')) return always
  const target = Object.hasOwn(schema, '$ref') ? scope.resolve(schema) : undefined
  return any(
    [target, ...getList(schema, 'allOf')].map((each) =>
      isObject(each) ? isEvaluated(name, { ...site, part: { schema: each, scope } }, false) : never,
    ),
  )
}
