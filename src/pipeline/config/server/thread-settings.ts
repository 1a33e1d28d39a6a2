/** Settings of threads: a message while a run is active, and what a run knows of earlier turns. */
import { count, text } from '../../../domain/schemas/parts.ts'
import type { ReadSetting, SettingTable } from './setting-row.ts'

export interface ThreadSettings {
  readonly whenBusy: 'queue' | 'interrupt' | 'reject'
  readonly contextTokens: number
  readonly summaryModel?: string
}

export const threadTable = {
  'threads.when_busy': {
    schema: { enum: ['queue', 'interrupt', 'reject'] },
    otherwise: 'queue',
    what: 'what happens to a message while a run of its thread is not over',
    env: ['PROVISO_THREADS_WHEN_BUSY'],
  },
  'threads.context_tokens': {
    schema: count,
    otherwise: 4_000,
    what: 'budget of the earlier turns that a run of a thread begins with, in tokens',
    env: ['PROVISO_THREADS_CONTEXT_TOKENS'],
  },
  'threads.summary_model': {
    schema: text,
    otherwise: null,
    what: 'model that writes the summary of earlier turns, as provider/model (default: one line for each turn)',
    env: ['PROVISO_THREADS_SUMMARY_MODEL'],
  },
} as const satisfies SettingTable

export function readThreadSettings(at: ReadSetting<typeof threadTable>): ThreadSettings {
  const summaryModel = at<string | null>('threads.summary_model')
  return {
    whenBusy: at('threads.when_busy'),
    contextTokens: at('threads.context_tokens'),
    ...(summaryModel !== null && { summaryModel }),
  }
}
