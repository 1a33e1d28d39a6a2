/**
 * Validates without generating code: every schema becomes a list of small functions when it is first applied. Works where
 * `eval` is refused (Workers, strict content security policies), costs almost nothing to set up, and judges each pair of
 * schema and value at most once, so that unions whose branches all recurse stay polynomial.
 */

import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, own } from '../../base/json.ts'
import { keepAlive } from '../../base/keep-alive.ts'
import { child } from '../../base/pointer.ts'
import { draftOfUri } from '../dialects/draft.ts'
import { findMalformed } from '../dialects/well-formed.ts'
import type { ViolatedKeyword } from '../issue-table.ts'
import type { JsonSchema } from '../json-schema.ts'
import { keywords, type SchemaObject } from '../keywords.ts'
import type { RegexEngine } from '../patterns/regex.ts'
import type { Names, Resource } from '../references/schema-names.ts'
import { type Applying, applicators, unevaluated, withEvaluated } from './applicators.ts'
import { assertions, type Row } from './assertions.ts'
import { type Check, Run, type Scope, type Site } from './run.ts'
import type { Kept } from './violation.ts'

interface InterpreterOptions {
  readonly names: Names
  readonly regex: RegexEngine
  /** Whether several references lead to a schema. */
  isShared(schema: object): boolean
}

interface Interpreter {
  accepts(value: unknown): boolean
  /** The same for the sub-schema at a pointer. */
  acceptsAt(pointer: string, value: unknown): boolean
  openSession(): Session
  /** Every violation, up to a bound; empty when the value is valid. */
  violations(value: unknown): readonly Kept[]
  /** How many schemas have been applied so far: the work done by interpreting. */
  readonly visits: number
}

/**
 * Many questions about values that do not change meanwhile. Under a recursive schema findings are remembered, so that
 * asking at every level of a value costs as much as asking once.
 */
export interface Session {
  accepts(value: unknown): boolean
  /** The same question for the sub-schema at a JSON pointer into the schema, e.g. `/properties/a/anyOf/0`. */
  acceptsAt(schemaPointer: string, value: unknown): boolean
  /** How many schemas were applied so far; `undefined` where nothing is remembered. */
  readonly judged: number | undefined
}

/** Expects a schema in 2020-12 that is well formed and whose references all lead somewhere. */
export function createInterpreter(root: JsonSchema, options: InterpreterOptions): Interpreter {
  const sites = new Sites(options)
  const start = sites.at(root, '', options.names.root)
  const parts = new Map<string, Site>()
  const scope: Scope = { anchors: new Map(), inner: new Map() }
  let visits = 0
  function accepts(site: Site, value: unknown): boolean {
    const run = new Run(scope, false)
    const ok = run.apply(site, value)
    visits += run.visits
    return ok
  }
  function part(pointer: string): Site {
    const known = parts.get(pointer)
    if (known !== undefined) return known
    const site = sites.find(pointer)
    parts.set(pointer, site)
    return site
  }
  return {
    accepts: (value) => accepts(start, value),
    acceptsAt: (pointer, value) => accepts(part(pointer), value),
    openSession() {
      const run = new Run(scope, false)
      // Every question is one of several about the same values.
      run.forks = 1
      return {
        accepts: (value) => run.apply(start, value),
        acceptsAt: (pointer, value) => run.apply(part(pointer), value),
        get judged() {
          return run.visits
        },
      }
    },
    violations(value) {
      const run = new Run(scope, true)
      run.apply(start, value)
      visits += run.visits
      keepAlive('interpreter', () => new Run(scope, true))
      return run.errors ?? []
    },
    get visits() {
      return visits
    },
  }
}

/** The keywords with a check, in the order in which they are checked, and so the order of violations. */
const order = [...keywords.keys()].filter((name) => name in assertions || name in applicators)

class Sites {
  readonly #options: InterpreterOptions
  readonly #sites = new Map<object, Site>()

  constructor(options: InterpreterOptions) {
    this.#options = options
  }

  at(schema: unknown, pointer: string, resource: Resource): Site {
    if (!isObject(schema)) return this.#make(schema, pointer, resource)
    let site = this.#sites.get(schema)
    if (site === undefined) {
      site = this.#make(schema, pointer, this.#options.names.findResource(schema) ?? resource)
      this.#sites.set(schema, site)
    }
    return site
  }

  /** The schema at a pointer into the whole. */
  find(pointer: string): Site {
    const { root } = this.#options.names
    const target = this.#options.names.resolve(
      `#${pointer.split('/').map(encodeURIComponent).join('/')}`,
      root,
    )
    if (target === undefined)
      throw new ProvisoError('schema/invalid', `Sub-schema at ${pointer} not found`, { at: { pointer } })
    return this.at(target.schema, target.pointer, target.resource)
  }

  #make(schema: unknown, pointer: string, resource: Resource): Site {
    const site: Site = {
      schema,
      pointer,
      resource,
      shared: isObject(schema) && this.#options.isShared(schema),
      checks: undefined,
      prepare: () => {
        site.checks = isObject(schema) ? this.#checks(site, schema) : schema === false ? [never(site)] : []
        return site.checks
      },
    }
    return site
  }

  #checks(site: Site, schema: SchemaObject): readonly Check[] {
    const holder: Applying = {
      site,
      schema,
      regex: this.#options.regex,
      below: (...path) => this.#below(site, path),
      follow: (keyword, ref) => this.#follow(site, keyword, ref),
    }
    const checks: Check[] = []
    for (const keyword of order) {
      if (!Object.hasOwn(schema, keyword)) continue
      const row = (assertions[keyword] ?? applicators[keyword]) as Row<Applying>
      const check = row(schema[keyword], holder, keyword as ViolatedKeyword)
      if (check !== undefined) checks.push(check)
    }
    const last = Object.keys(unevaluated).filter((keyword) => Object.hasOwn(schema, keyword))
    if (last.length === 0) return checks
    for (const keyword of last) {
      const check = (unevaluated[keyword] as Row<Applying>)(
        schema[keyword],
        holder,
        keyword as ViolatedKeyword,
      )
      if (check !== undefined) checks.push(check)
    }
    return [withEvaluated(checks)]
  }

  #below(site: Site, path: readonly (string | number)[]): Site {
    let node: unknown = site.schema
    let { pointer } = site
    for (const key of path) {
      node = own(node as object, String(key))
      pointer = child(pointer, key)
    }
    return this.at(node, pointer, site.resource)
  }

  #follow(site: Site, keyword: '$ref' | '$dynamicRef', ref: string): Check {
    const { names } = this.#options
    const target = names.resolve(ref, site.resource)
    if (target === undefined) {
      const draft = draftOfUri(ref)
      // Meta-schemas are built in.
      return (value, run) =>
        draft === undefined || findMalformed(value, draft) === undefined || run.report(site, keyword)
    }
    const plain = this.at(target.schema, target.pointer, target.resource)
    const anchor = isObject(target.schema) ? own(target.schema, '$dynamicAnchor') : undefined
    const isDynamic = keyword === '$dynamicRef' && typeof anchor === 'string' && ref.endsWith(`#${anchor}`)
    if (!isDynamic) return (value, run) => run.apply(plain, value)
    return (value, run) => {
      const found = run.scope.anchors.get(anchor)?.dynamic.get(anchor)
      const site = found === undefined ? plain : this.at(found.schema, found.pointer, found.resource)
      return run.apply(site, value)
    }
  }
}

function never(site: Site): Check {
  return (_, run) => run.report(site, 'false schema')
}
