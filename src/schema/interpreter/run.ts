/** One validation: where it is, what it has found, and what it has found already for pairs of schema and value. */
import { child } from '../../base/pointer.ts'
import type { Resource } from '../references/schema-names.ts'
import type { Evaluated } from './evaluated.ts'
import type { Kept } from './violation.ts'

/** A schema in its document; its checks are made when it is first applied. */
export interface Site {
  readonly schema: unknown
  readonly pointer: string
  readonly resource: Resource
  /** Several references lead here, so one value can be judged by it more than once. */
  readonly shared: boolean
  checks: readonly Check[] | undefined
  prepare(): readonly Check[]
}

/** Whether a value satisfies one keyword. Reports violations to `run.errors` where they are wanted. */
export type Check = (value: unknown, run: Run) => boolean

/** The dynamic scope: for each dynamic anchor the outermost resource that has it. Equal scopes are the same object. */
export interface Scope {
  readonly anchors: ReadonlyMap<string, Resource>
  readonly inner: Map<Resource, Scope>
}

/** What was found for a pair of schema and value. */
interface CachedVerdict {
  readonly scope: Scope
  readonly path: string
  ok: boolean
  open: boolean
  errors: readonly Kept[] | undefined
  evaluated: Evaluated | undefined
}

const NOTHING = {}
/** How many violations are collected in one list. */
const mostErrors = 200

export class Run {
  /** `undefined`: violations are not wanted, and the first one ends the work. */
  declare errors: Kept[] | undefined
  /** `undefined`: it does not matter which members are evaluated. */
  evaluated: Evaluated | undefined
  declare scope: Scope
  path = ''
  propertyName: string | undefined
  /** How many schemas have been applied. */
  visits = 0
  /** How many alternatives the work is inside of: only there can a pair of schema and value come twice. */
  forks = 0
  readonly #verdicts = new Map<Site, Map<object, CachedVerdict[]>>()

  constructor(scope: Scope, collecting: boolean) {
    this.scope = scope
    this.errors = collecting ? [] : undefined
  }

  /** Whether more violations are wanted; if not, the caller stops at the first. */
  get collecting(): boolean {
    return this.errors !== undefined && this.errors.length < mostErrors
  }

  report(
    site: Site,
    keyword: Violation['keyword'],
    params: Violation['params'] = NOTHING,
    branches: Kept['branches'] = [],
  ): false {
    if (!this.collecting) return false
    const { schema } = site
    const error = {
      keyword,
      instancePath: this.path,
      params,
      schema: typeof schema === 'object' && schema !== null ? Reflect.get(schema, keyword) : schema,
      parentSchema: schema,
      ...(this.propertyName !== undefined && { propertyName: this.propertyName }),
    }
    this.errors?.push({ error, branches })
    return false
  }

  /** Whether a value satisfies a schema. */
  apply(site: Site, value: unknown): boolean {
    if (this.forks > 0 && site.shared && typeof value === 'object' && value !== null)
      return this.#remember(site, value)
    return this.#check(site, value)
  }

  /** Whether a member of the value satisfies a schema: at another path, with evaluated members of its own. */
  applyInside(site: Site, value: unknown, key: string | number): boolean {
    const { path, evaluated, propertyName } = this
    if (this.errors !== undefined) this.path = child(path, key)
    this.evaluated = undefined
    this.propertyName = undefined
    const ok = this.apply(site, value)
    this.path = path
    this.evaluated = evaluated
    this.propertyName = propertyName
    return ok
  }

  /** Whether a value satisfies a schema, with nothing reported and nothing evaluated. */
  test(site: Site, value: unknown): boolean {
    const { errors, evaluated } = this
    this.errors = undefined
    this.evaluated = undefined
    this.forks++
    const ok = this.apply(site, value)
    this.forks--
    this.errors = errors
    this.evaluated = evaluated
    return ok
  }

  #check(site: Site, value: unknown): boolean {
    this.visits++
    const { scope } = this
    this.scope = enterScope(scope, site.resource)
    let ok = true
    for (const check of site.checks ?? site.prepare()) {
      if (check(value, this)) continue
      ok = false
      if (!this.collecting) break
    }
    this.scope = scope
    return ok
  }

  /** The verdict for a pair of schema and value, computed again where no stored verdict says enough. */
  #remember(site: Site, value: object): boolean {
    let byValue = this.#verdicts.get(site)
    if (byValue === undefined) {
      byValue = new Map()
      this.#verdicts.set(site, byValue)
    }
    const before = byValue.get(value) ?? []
    const known = before.find(
      ({ scope, path }) => scope === this.scope && (path === this.path || this.errors === undefined),
    )
    // A loop that does not go into the value says nothing about it.
    if (known?.open) return true
    if (known !== undefined && this.#saysEnough(known)) return this.#use(known)
    const verdict: CachedVerdict = known ?? {
      scope: this.scope,
      path: this.path,
      ok: true,
      open: true,
      errors: undefined,
      evaluated: undefined,
    }
    if (known === undefined) byValue.set(value, [...before, verdict])
    return this.#find(verdict, site, value)
  }

  #saysEnough(known: CachedVerdict): boolean {
    if (!known.ok) return !this.collecting || known.errors !== undefined
    return this.evaluated === undefined || known.evaluated !== undefined
  }

  #use(known: CachedVerdict): boolean {
    if (known.ok && known.evaluated !== undefined) this.evaluated?.add(known.evaluated)
    if (!known.ok) this.addErrors(known.errors ?? [])
    return known.ok
  }

  #find(verdict: CachedVerdict, site: Site, value: object): boolean {
    const { errors, evaluated } = this
    const wanted = this.collecting
    this.errors = wanted ? [] : undefined
    this.evaluated = evaluated?.fresh()
    verdict.open = true
    verdict.ok = this.#check(site, value)
    verdict.open = false
    if (wanted) verdict.errors = this.errors
    verdict.evaluated = this.evaluated ?? verdict.evaluated
    const found = this.errors
    this.errors = errors
    this.evaluated = evaluated
    if (!verdict.ok && found !== undefined) this.addErrors(found)
    if (verdict.ok && verdict.evaluated !== undefined) evaluated?.add(verdict.evaluated)
    return verdict.ok
  }

  addErrors(found: readonly Kept[]): void {
    for (const error of found) {
      if (!this.collecting) return
      this.errors?.push(error)
    }
  }
}

/** The scope inside a resource: its dynamic anchors count where no outer resource has them. */
function enterScope(scope: Scope, resource: Resource): Scope {
  if (resource.dynamic.size === 0) return scope
  let inner = scope.inner.get(resource)
  if (inner === undefined) {
    const fresh = [...resource.dynamic.keys()].filter((name) => !scope.anchors.has(name))
    inner =
      fresh.length === 0
        ? scope
        : {
            anchors: new Map([...scope.anchors, ...fresh.map((name) => [name, resource] as const)]),
            inner: new Map(),
          }
    scope.inner.set(resource, inner)
  }
  return inner
}

type Violation = Kept['error']
