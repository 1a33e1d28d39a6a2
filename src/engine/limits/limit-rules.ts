/** Limits of the whole fleet: how many attempts may run at once, or start within a time, per capability, tenant and model. */
import { ProvisoError } from '../../base/errors/error.ts'

export interface LimitRule {
  /** Attempts at once. */
  readonly concurrency?: number
  /** Attempts that may start: `count` at once, and then evenly over `perMs` (token bucket). */
  readonly rate?: { readonly count: number; readonly perMs: number }
}

/** By name; `*` is the rule of every name without one of its own, each counted apart. */
export type LimitRules = { readonly [name: string]: LimitRule }

export interface FleetRules {
  readonly capabilities?: LimitRules
  readonly tenants?: LimitRules
  /** `provider/model`: the first that a capability prefers, else the default model. */
  readonly models?: LimitRules
}

export const limitKinds = [
  'capabilities',
  'tenants',
  'models',
] as const satisfies readonly (keyof FleetRules)[]

/** A limit with its name in the store and in reports, such as `capabilities/render`. */
export interface NamedLimit {
  readonly name: string
  readonly rule: LimitRule
}

/** What an attempt counts for. */
export interface Counted {
  readonly capabilityId: string
  readonly tenant: string
  readonly model?: string | undefined
}

/** Returns the limits that an attempt counts for. */
export function findLimits(
  rules: FleetRules,
  { capabilityId, tenant, model }: Counted,
): readonly NamedLimit[] {
  const names = { capabilities: capabilityId, tenants: tenant, models: model }
  return limitKinds.flatMap((kind) => {
    const name = names[kind]
    const own = rules[kind]
    if (name === undefined || own === undefined) return []
    const rule = Object.hasOwn(own, name) ? own[name] : own['*']
    return rule ? [{ name: `${kind}/${name}`, rule }] : []
  })
}

const units = { s: 1_000, m: 60_000, h: 3_600_000 } as const

/** Reads entries such as `render=4` (at once) and `render=100/1m` (starts in a time); those of one name are joined. */
export function readLimits(entries: readonly string[]): LimitRules {
  const rules = new Map<string, LimitRule>()
  for (const entry of entries) {
    const [, name = '', count = '', , time = '1', unit] = /^(.+)=(\d+)(\/(\d*)([smh]))?$/.exec(entry) ?? []
    const perMs = unit === undefined ? undefined : Number(time || 1) * units[unit as keyof typeof units]
    const rule =
      perMs === undefined ? { concurrency: Number(count) } : { rate: { count: Number(count), perMs } }
    const known = rules.get(name)
    if (known && Object.keys(rule).some((kind) => Object.hasOwn(known, kind)))
      throw new ProvisoError(
        'option/invalid',
        `The limit "${entry}" is the second of its kind for "${name}"`,
        {
          hint: 'Give each name at most one limit of attempts at once, and one of starts in a time',
        },
      )
    rules.set(name, { ...known, ...rule })
  }
  return Object.fromEntries(rules)
}
