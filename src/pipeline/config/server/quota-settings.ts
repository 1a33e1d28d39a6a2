/** Quotas of each tenant. */
import { count } from '../../../domain/schemas/parts.ts'
import type { ReadSetting, SettingTable } from './setting-row.ts'

/** Absent: no limit. */
export interface QuotaSettings {
  readonly storedChars?: number
  readonly dailyTokens?: number
  readonly dailyUsd?: number
}

export const quotaTable = {
  'quota.stored_chars': {
    schema: count,
    otherwise: null,
    what: 'stored characters of events and values of one tenant (default: no limit)',
    env: ['PROVISO_QUOTA_STORED_CHARS'],
  },
  'quota.daily_tokens': {
    schema: count,
    otherwise: null,
    what: 'tokens of models of one tenant in 24 hours (default: no limit)',
    env: ['PROVISO_QUOTA_DAILY_TOKENS'],
  },
  'quota.daily_usd': {
    schema: { type: 'number', exclusiveMinimum: 0 },
    otherwise: null,
    what: 'spend of one tenant in 24 hours, in US dollars (default: no limit)',
    env: ['PROVISO_QUOTA_DAILY_USD'],
  },
} as const satisfies SettingTable

export function readQuotaSettings(at: ReadSetting<typeof quotaTable>): QuotaSettings {
  const storedChars = at<number | null>('quota.stored_chars')
  const dailyTokens = at<number | null>('quota.daily_tokens')
  const dailyUsd = at<number | null>('quota.daily_usd')
  return {
    ...(storedChars !== null && { storedChars }),
    ...(dailyTokens !== null && { dailyTokens }),
    ...(dailyUsd !== null && { dailyUsd }),
  }
}
