/** Limits of all processes on the store together, and circuit breakers. */
import { count, countOrNone } from '../../../domain/schemas/parts.ts'
import type { ReadSetting, SettingTable } from './setting-row.ts'

export interface LimitSettings {
  /** Entries such as `render=4` (at once) and `render=100/1m` (in a time). */
  readonly capabilities: readonly string[]
  readonly tenants: readonly string[]
  readonly models: readonly string[]
  /** 0: circuits stay closed. */
  readonly circuitFailures: number
  readonly circuitSeconds: number
}

/** Read by `readLimits` of the engine. */
const limitEntries = {
  type: 'array',
  items: { type: 'string', pattern: '^.+=[1-9][0-9]{0,8}(/([1-9][0-9]{0,4})?[smh])?$' },
} as const
const expected = 'NAME=COUNT (at once) or NAME=COUNT/TIME (starts in 10s, 1m or 1h), with a count above zero'

export const limitTable = {
  'limits.capabilities': {
    schema: limitEntries,
    expected,
    otherwise: [],
    what: 'attempts of a capability in the whole fleet: render=4 at once, render=100/1m in a minute; * stands for each without a limit of its own',
    env: ['PROVISO_LIMITS_CAPABILITIES'],
  },
  'limits.tenants': {
    schema: limitEntries,
    expected,
    otherwise: [],
    what: 'the same for tenants: acme=50, *=20',
    env: ['PROVISO_LIMITS_TENANTS'],
  },
  'limits.models': {
    schema: limitEntries,
    expected,
    otherwise: [],
    what: 'the same for models, by the first that a capability prefers: openai/gpt-5=500/1m',
    env: ['PROVISO_LIMITS_MODELS'],
  },
  'limits.circuit_failures': {
    schema: countOrNone,
    otherwise: 5,
    what: 'attempts in a row that find a capability or model unavailable or throttled before it is not called for a while; 0 switches this off',
    env: ['PROVISO_LIMITS_CIRCUIT_FAILURES'],
  },
  'limits.circuit_seconds': {
    schema: count,
    otherwise: 10,
    what: 'how long it is not called at first; the pause doubles up to five minutes',
    env: ['PROVISO_LIMITS_CIRCUIT_SECONDS'],
  },
} as const satisfies SettingTable

export function readLimitSettings(at: ReadSetting<typeof limitTable>): LimitSettings {
  return {
    capabilities: at('limits.capabilities'),
    tenants: at('limits.tenants'),
    models: at('limits.models'),
    circuitFailures: at('limits.circuit_failures'),
    circuitSeconds: at('limits.circuit_seconds'),
  }
}
