/** Checks of keywords that apply other schemas to the value or to its members. One row per keyword. */
import { isObject, own } from '../../base/json.ts'
import type { SchemaObject } from '../keywords.ts'
import { type Holder, has, type Row } from './assertions.ts'
import { Evaluated } from './evaluated.ts'
import type { Check, Run, Site } from './run.ts'
import type { Kept } from './violation.ts'

export interface Applying extends Holder {
  /** The schema below a keyword of this one. */
  below(...path: readonly (string | number)[]): Site
  /** What a reference of this schema leads to. */
  follow(keyword: '$ref' | '$dynamicRef', ref: string): Check
}

export const applicators: Readonly<Record<string, Row<Applying>>> = {
  $ref: (held, holder) => holder.follow('$ref', held as string),
  $dynamicRef: (held, holder) => holder.follow('$dynamicRef', held as string),
  not(_, { site, below }) {
    const inner = below('not')
    return (value, run) => !run.test(inner, value) || run.report(site, 'not')
  },
  allOf(held, { below }) {
    const parts = (held as unknown[]).map((_, index) => below('allOf', index))
    return (value, run) => {
      run.forks++
      let ok = true
      for (const part of parts) {
        if (run.apply(part, value)) continue
        ok = false
        if (!run.collecting) break
      }
      run.forks--
      return ok
    }
  },
  anyOf(held, { site, below }) {
    const branches = (held as unknown[]).map((_, index) => below('anyOf', index))
    return (value, run) => {
      const { passing, failed } = tryBranches(branches, value, { run, enough: 1 })
      return passing.length > 0 || run.report(site, 'anyOf', {}, failed)
    }
  },
  oneOf(held, { site, below }) {
    const branches = (held as unknown[]).map((_, index) => below('oneOf', index))
    return (value, run) => {
      const { passing, failed } = tryBranches(branches, value, { run, enough: 2 })
      if (passing.length === 1) return true
      return run.report(site, 'oneOf', { passing }, failed)
    }
  },
  if(_, { schema, below }) {
    const condition = below('if')
    const yes = Object.hasOwn(schema, 'then') ? below('then') : undefined
    const no = Object.hasOwn(schema, 'else') ? below('else') : undefined
    return (value, run) => {
      const { passing } = tryBranches([condition], value, { run, enough: 1, silent: true })
      const chosen = passing.length > 0 ? yes : no
      return chosen === undefined || run.apply(chosen, value)
    }
  },
  prefixItems(held, { below }) {
    const sites = (held as unknown[]).map((_, index) => below('prefixItems', index))
    return (value, run) => {
      if (!Array.isArray(value)) return true
      if (run.evaluated !== undefined) run.evaluated.prefix = Math.max(run.evaluated.prefix, sites.length)
      return eachItem(value, run, { from: 0, to: sites.length, getSite: (index) => sites[index] as Site })
    }
  },
  items(held, { site, schema, below }) {
    const inner = below('items')
    const prefix = own(schema, 'prefixItems')
    const from = Array.isArray(prefix) ? prefix.length : 0
    return (value, run) => {
      if (!Array.isArray(value)) return true
      if (run.evaluated !== undefined) run.evaluated.allItems = true
      if (held === false) return value.length <= from || run.report(site, 'items', { limit: from })
      return eachItem(value, run, { from, to: value.length, getSite: () => inner })
    }
  },
  contains: makeContains,
  dependentSchemas(held, { below }) {
    const sites = Object.keys(held as object).map((name) => ({ name, site: below('dependentSchemas', name) }))
    return (value, run) => {
      if (!isObject(value)) return true
      run.forks++
      let ok = true
      for (const { name, site } of sites) {
        if (!has(value, name) || run.apply(site, value)) continue
        ok = false
        if (!run.collecting) break
      }
      run.forks--
      return ok
    }
  },
  propertyNames(_, { below }) {
    const inner = below('propertyNames')
    return (value, run) => {
      if (!isObject(value)) return true
      const { propertyName, evaluated } = run
      run.evaluated = undefined
      let ok = true
      for (const name of Object.keys(value)) {
        run.propertyName = name
        if (run.apply(inner, name)) continue
        ok = false
        if (!run.collecting) break
      }
      run.propertyName = propertyName
      run.evaluated = evaluated
      return ok
    }
  },
  properties(held, { below }) {
    const sites = Object.keys(held as object).map((name) => ({ name, site: below('properties', name) }))
    return (value, run) => {
      if (!isObject(value)) return true
      let ok = true
      for (const { name, site } of sites) {
        if (!has(value, name)) continue
        run.evaluated?.names.add(name)
        if (run.applyInside(site, value[name], name)) continue
        ok = false
        if (!run.collecting) return false
      }
      return ok
    }
  },
  patternProperties(held, { below, regex }) {
    const sites = Object.keys(held as object).map((pattern) => ({
      pattern: regex(pattern, 'u'),
      site: below('patternProperties', pattern),
    }))
    return (value, run) =>
      eachMember(value, run, (name) => {
        let ok = true
        for (const { pattern, site } of sites) {
          if (!pattern.test(name)) continue
          run.evaluated?.names.add(name)
          if (!run.applyInside(site, Reflect.get(value as object, name), name)) ok = false
        }
        return ok
      })
  },
  additionalProperties(held, { site, schema, below, regex }) {
    const named = new Set(Object.keys(toRecord(own(schema, 'properties'))))
    const patterns = Object.keys(toRecord(own(schema, 'patternProperties'))).map((text) => regex(text, 'u'))
    const inner = below('additionalProperties')
    return (value, run) =>
      eachMember(value, run, (name) => {
        if (named.has(name) || patterns.some((pattern) => pattern.test(name))) return true
        run.evaluated?.names.add(name)
        if (held === false) return run.report(site, 'additionalProperties', { name })
        return run.applyInside(inner, Reflect.get(value as object, name), name)
      })
  },
}

/** Keywords that ask what all others of their schema have evaluated; they come last. */
export const unevaluated: Readonly<Record<string, Row<Applying>>> = {
  unevaluatedItems(held, { site, below }) {
    const inner = below('unevaluatedItems')
    return (value, run) => {
      if (!Array.isArray(value) || run.evaluated === undefined) return true
      const seen = run.evaluated
      let ok = true
      for (let index = 0; index < value.length; index++) {
        if (seen.hasItem(index)) continue
        if (held === false) return run.report(site, 'unevaluatedItems', { limit: index })
        if (run.applyInside(inner, value[index], index)) continue
        ok = false
        if (!run.collecting) return false
      }
      seen.allItems = true
      return ok
    }
  },
  unevaluatedProperties(held, { site, below }) {
    const inner = below('unevaluatedProperties')
    return (value, run) => {
      const seen = run.evaluated
      if (seen === undefined) return true
      const ok = eachMember(value, run, (name) => {
        if (seen.hasName(name)) return true
        if (held === false) return run.report(site, 'unevaluatedProperties', { name })
        return run.applyInside(inner, Reflect.get(value as object, name), name)
      })
      if (isObject(value)) seen.allNames = true
      return ok
    }
  },
}

interface Branching {
  readonly run: Run
  /** How many passing branches settle the matter; all are tried where evaluated members count. */
  readonly enough: number
  /** Violations are not wanted. */
  readonly silent?: boolean
}

/** Tries branches on the same value. Only what a passing branch has evaluated counts. */
function tryBranches(branches: readonly Site[], value: unknown, branching: Branching) {
  const { run, enough, silent } = branching
  const { errors, evaluated } = run
  const collect = run.collecting && !silent
  const passing: number[] = []
  const failed: Kept[][] = []
  run.forks++
  for (let index = 0; index < branches.length; index++) {
    run.errors = collect ? [] : undefined
    run.evaluated = evaluated?.fresh()
    if (run.apply(branches[index] as Site, value)) {
      passing.push(index)
      if (run.evaluated !== undefined) evaluated?.add(run.evaluated)
      if (passing.length >= enough && evaluated === undefined) break
    } else if (run.errors !== undefined) {
      failed.push(run.errors)
    }
  }
  run.forks--
  run.errors = errors
  run.evaluated = evaluated
  return { passing, failed }
}

interface Items {
  readonly from: number
  readonly to: number
  getSite(index: number): Site
}

function eachItem(value: readonly unknown[], run: Run, { from, to, getSite }: Items): boolean {
  let ok = true
  for (let index = from; index < to && index < value.length; index++) {
    if (run.applyInside(getSite(index), value[index], index)) continue
    ok = false
    if (!run.collecting) return false
  }
  return ok
}

function eachMember(value: unknown, run: Run, check: (name: string) => boolean): boolean {
  if (!isObject(value)) return true
  let ok = true
  for (const name of Object.keys(value)) {
    if (check(name)) continue
    ok = false
    if (!run.collecting) return false
  }
  return ok
}

function makeContains(_: unknown, { site, schema, below }: Applying): Check {
  const inner = below('contains')
  const least = (own(schema, 'minContains') as number | undefined) ?? 1
  const most = own(schema, 'maxContains') as number | undefined
  return (value, run) => {
    if (!Array.isArray(value)) return true
    const needsAll = run.evaluated !== undefined || most !== undefined
    let count = 0
    for (let index = 0; index < value.length; index++) {
      if (!needsAll && count >= least) break
      if (!run.test(inner, value[index])) continue
      count++
      run.evaluated?.indices.add(index)
    }
    if (count >= least && (most === undefined || count <= most)) return true
    return run.report(site, 'contains', { least, most })
  }
}

function toRecord(value: unknown): SchemaObject {
  return isObject(value) ? value : {}
}

/** Runs checks with evaluated members of their own, which then count for the schema around. */
export function withEvaluated(checks: readonly Check[]): Check {
  return (value, run) => {
    const outer = run.evaluated
    run.evaluated = new Evaluated()
    let ok = true
    for (const check of checks) {
      if (check(value, run)) continue
      ok = false
      if (!run.collecting) break
    }
    const found = run.evaluated
    run.evaluated = outer
    if (ok) outer?.add(found)
    return ok
  }
}
