/**
 * The settings of the server and its planner: one table for `proviso.toml`, environment variables and flags
 * of `serve`. Each section has a file in `server/`.
 */
import type { Issue } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import { closed, texts } from '../../domain/schemas/parts.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { type AuthSettings, authTable, readAuthSettings } from './server/auth-settings.ts'
import { type HttpSettings, httpTable, readHttpSettings } from './server/http-settings.ts'
import { type LimitSettings, limitTable, readLimitSettings } from './server/limit-settings.ts'
import { type PlacementSettings, placementTable, readPlacementSettings } from './server/placement-settings.ts'
import { type PlannerSettings, plannerTable, readPlannerSettings } from './server/planner-settings.ts'
import { type QueueSettings, queueTable, readQueueSettings } from './server/queue-settings.ts'
import { type QuotaSettings, quotaTable, readQuotaSettings } from './server/quota-settings.ts'
import { type RetentionSettings, readRetentionSettings, retentionTable } from './server/retention-settings.ts'
import type { SettingTable } from './server/setting-row.ts'
import { readThreadSettings, type ThreadSettings, threadTable } from './server/thread-settings.ts'
import { readWebhookSettings, type WebhookSettings, webhookTable } from './server/webhook-settings.ts'

export interface ServerSettings {
  readonly planner: PlannerSettings
  readonly server: HttpSettings
  readonly quota: QuotaSettings
  readonly retention: RetentionSettings
  /** Absent without `auth.issuer`: no JSON web tokens are accepted. */
  readonly auth?: AuthSettings
  readonly webhooks: WebhookSettings
  readonly limits: LimitSettings
  readonly threads: ThreadSettings
  readonly queue: QueueSettings
  readonly placement: PlacementSettings
  /** Sets of facets and capabilities that ship with the package. */
  readonly presets: readonly string[]
}

/** Every key by its dotted name in `proviso.toml`. */
export const serverTable = {
  ...plannerTable,
  ...httpTable,
  ...quotaTable,
  ...retentionTable,
  ...authTable,
  ...webhookTable,
  ...limitTable,
  ...threadTable,
  ...queueTable,
  ...placementTable,
  'catalog.presets': {
    schema: texts,
    otherwise: [],
    what: 'facets and capabilities of the package to register: marketing, memory',
    env: ['PROVISO_CATALOG_PRESETS'],
  },
} as const satisfies SettingTable

export type ServerKey = keyof typeof serverTable

export const serverKeys = Object.keys(serverTable) as readonly ServerKey[]

/** The message of an issue of a setting: patterns in words. */
export function explainSetting(key: string, { code, message }: Pick<Issue, 'code' | 'message'>): string {
  const expected = (serverTable as SettingTable)[key]?.expected
  if (expected === undefined || code !== 'schema/pattern') return message
  const [, actual] = /, but is (.*)$/s.exec(message) ?? []
  return `must be ${expected}${actual === undefined ? '' : `, but is ${actual}`}`
}

/** Groups the keys by their table in `proviso.toml`. */
function getTables(): Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> {
  const tables: Record<string, Record<string, JsonSchema>> = {}
  for (const key of serverKeys) {
    const [table = '', name = ''] = key.split('.')
    const { schema, what } = serverTable[key]
    tables[table] = { ...tables[table], [name]: { ...schema, description: what } }
  }
  return tables
}

/** The schemas of the tables; an unknown key is an error. */
export function serverSchema(): Readonly<Record<string, JsonSchema>> {
  const { catalog = {}, ...tables } = getTables()
  const schemas = Object.entries(tables).map(([name, properties]) => [name, closed(properties)] as const)
  return { ...Object.fromEntries(schemas), catalog: closed({ use: texts, ...catalog }) }
}

/** Builds the settings from values by dotted name; absent ones get their defaults. */
export function serverSettings(given: Readonly<Partial<Record<ServerKey, Json>>> = {}): ServerSettings {
  const at = <T>(key: ServerKey): T => (given[key] ?? serverTable[key].otherwise) as T
  const auth = readAuthSettings(at)
  return {
    planner: readPlannerSettings(at),
    server: readHttpSettings(at),
    quota: readQuotaSettings(at),
    retention: readRetentionSettings(at),
    ...(auth && { auth }),
    webhooks: readWebhookSettings(at),
    limits: readLimitSettings(at),
    threads: readThreadSettings(at),
    queue: readQueueSettings(at),
    placement: readPlacementSettings(at),
    presets: at('catalog.presets'),
  }
}
