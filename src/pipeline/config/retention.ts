/** Retention rules: how long finished runs are kept, by status and tenant, and the deletions that follow from them. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Prune } from '../../domain/ports/store.ts'
import { type TerminalStatus, terminalStatuses } from '../../domain/status.ts'
import type { ServerSettings } from './server-settings.ts'

/** A deletion, and the rule behind it. */
export interface RetentionRule {
  readonly prune: Prune
  /** Such as `failed runs of acme after 90d`. */
  readonly what: string
}

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const

/** A time such as `30d` in milliseconds; undefined for `forever`. */
function readAge(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d+)([smhdw])$/.exec(text) ?? []
  return text === 'forever' ? undefined : Number(digits) * units[unit as keyof typeof units]
}

type Ages = Readonly<Partial<Record<TerminalStatus | 'keep', string>>>

/**
 * Returns the deletions that are due at a time. For each run the most specific rule applies: of its tenant and status, of its
 * tenant, of its status, of all.
 */
export function planRetention(retention: ServerSettings['retention'], now: number): readonly RetentionRule[] {
  const tenants = readTenants(retention.tenants)
  const own = [...tenants].flatMap(([tenant, ages]) =>
    rulesFor((status) => ages[status] ?? ages.keep ?? retention[status] ?? retention.keep, {
      of: ` of ${tenant}`,
      scope: { tenant },
      now,
    }),
  )
  const exceptTenants = [...tenants.keys()]
  const scope = exceptTenants.length === 0 ? {} : { exceptTenants }
  return [...own, ...rulesFor((status) => retention[status] ?? retention.keep, { of: '', scope, now })]
}

function rulesFor(
  ageOf: (status: TerminalStatus) => string | undefined,
  { of, scope, now }: { readonly of: string; readonly scope: Partial<Prune>; readonly now: number },
): RetentionRule[] {
  const byAge = new Map<string, TerminalStatus[]>()
  for (const status of terminalStatuses) {
    const age = ageOf(status)
    if (age !== undefined && readAge(age) !== undefined) byAge.set(age, [...(byAge.get(age) ?? []), status])
  }
  return [...byAge].map(([age, status]) => ({
    prune: { before: now - (readAge(age) ?? 0), status, ...scope },
    what: `${status.join(', ')} runs${of} after ${age}`,
  }))
}

/** Reads entries such as `acme=90d` and `acme.failed=365d`. A tenant's name may contain dots: only a status is cut off. */
function readTenants(entries: readonly string[]): ReadonlyMap<string, Ages> {
  const tenants = new Map<string, Ages>()
  for (const entry of entries) {
    const cut = entry.lastIndexOf('=')
    const [name, age] = [entry.slice(0, Math.max(cut, 0)).trim(), entry.slice(cut + 1).trim()]
    const status = terminalStatuses.find((one) => name.endsWith(`.${one}`))
    const tenant = status === undefined ? name : name.slice(0, -status.length - 1)
    if (tenant === '' || !agePattern.test(age))
      throw new ProvisoError(
        'option/invalid',
        `retention.tenants must have entries such as "acme=90d" or "acme.failed=365d", got "${entry}"`,
      )
    tenants.set(tenant, { ...tenants.get(tenant), [status ?? 'keep']: age })
  }
  return tenants
}

const agePattern = /^([1-9][0-9]{0,5}[smhdw]|forever)$/
