/** Settings of the planner: who drafts plans, with which model. */
import { count, text } from '../../../domain/schemas/parts.ts'
import type { ReadSetting, SettingTable } from './setting-row.ts'

export interface PlannerSettings {
  readonly mode: 'search' | 'model' | 'auto'
  /** `provider/model`. Absent: the default model. */
  readonly model?: string
  readonly timeoutMs: number
  /** Maximum number of capabilities in the prompt. */
  readonly maxCapabilities: number
}

export const plannerTable = {
  'planner.mode': {
    schema: { enum: ['search', 'model', 'auto'] },
    otherwise: null,
    what: 'who drafts plans; auto asks the model first, then searches (default: auto with planner.model, else search)',
    env: ['PROVISO_PLANNER'],
  },
  'planner.model': {
    schema: text,
    otherwise: null,
    what: 'model that drafts plans, as provider/model (default: the default model)',
    env: ['FLEX_PLANNER_MODEL'],
  },
  'planner.timeout_ms': {
    schema: count,
    otherwise: 240_000,
    what: 'timeout of one call of the planner model',
    env: ['FLEX_PLANNER_TIMEOUT_MS'],
  },
  'planner.max_capabilities': {
    schema: count,
    otherwise: 80,
    what: 'most capabilities in the prompt of the planner model',
    env: ['FLEX_PLANNER_CRCS_MAX_ROWS'],
  },
} as const satisfies SettingTable

export function readPlannerSettings(at: ReadSetting<typeof plannerTable>): PlannerSettings {
  const model = at<string | null>('planner.model')
  return {
    mode: at<PlannerSettings['mode'] | null>('planner.mode') ?? (model === null ? 'search' : 'auto'),
    ...(model !== null && { model }),
    timeoutMs: at('planner.timeout_ms'),
    maxCapabilities: at('planner.max_capabilities'),
  }
}
