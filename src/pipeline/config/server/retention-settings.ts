/** How long finished runs are kept. */
import type { ReadSetting, SettingTable } from './setting-row.ts'

export interface RetentionSettings {
  /** How long finished runs are kept, such as `30d`, or `forever`. Absent: until they are pruned manually. */
  readonly keep?: string
  /** The same for one status, instead of `keep`. */
  readonly completed?: string
  readonly failed?: string
  readonly cancelled?: string
  /** The same for one tenant (`acme=90d`), or one status of it (`acme.failed=365d`), instead of the others. */
  readonly tenants: readonly string[]
  readonly everyMinutes: number
}

const age = { type: 'string', pattern: '^([1-9][0-9]{0,5}[smhdw]|forever)$' } as const
const ageWords = 'a whole number and a unit (45s, 30m, 12h, 30d or 4w), or forever'

export const retentionTable = {
  'retention.keep': {
    schema: age,
    expected: ageWords,
    otherwise: null,
    what: 'delete finished runs after this time, such as 12h, 30d or 4w (default: keep them)',
    env: ['PROVISO_RETENTION'],
  },
  'retention.completed': {
    schema: age,
    expected: ageWords,
    otherwise: null,
    what: 'the same for completed runs, such as 7d or forever (default: retention.keep)',
    env: ['PROVISO_RETENTION_COMPLETED'],
  },
  'retention.failed': {
    schema: age,
    expected: ageWords,
    otherwise: null,
    what: 'the same for failed runs (default: retention.keep)',
    env: ['PROVISO_RETENTION_FAILED'],
  },
  'retention.cancelled': {
    schema: age,
    expected: ageWords,
    otherwise: null,
    what: 'the same for cancelled runs (default: retention.keep)',
    env: ['PROVISO_RETENTION_CANCELLED'],
  },
  'retention.tenants': {
    schema: {
      type: 'array',
      items: { type: 'string', pattern: '^.+=\\s*([1-9][0-9]{0,5}[smhdw]|forever)$' },
    },
    expected: 'a tenant and a time, such as acme=90d or acme.failed=365d',
    otherwise: [],
    what: 'the same for single tenants: acme=90d, or acme.failed=365d for one status',
    env: ['PROVISO_RETENTION_TENANTS'],
  },
  'retention.every_minutes': {
    schema: { type: 'integer', minimum: 1, maximum: 10_080 },
    otherwise: 60,
    what: 'how often old runs are deleted',
    env: ['PROVISO_RETENTION_EVERY_MINUTES'],
  },
} as const satisfies SettingTable

export function readRetentionSettings(at: ReadSetting<typeof retentionTable>): RetentionSettings {
  return {
    ...readAges(at),
    tenants: at('retention.tenants'),
    everyMinutes: at('retention.every_minutes'),
  }
}

/** The times of the retention that are set. */
function readAges(
  at: ReadSetting<typeof retentionTable>,
): Omit<RetentionSettings, 'tenants' | 'everyMinutes'> {
  const names = ['keep', 'completed', 'failed', 'cancelled'] as const
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = at<string | null>(`retention.${name}`)
      return value === null ? [] : [[name, value]]
    }),
  )
}
