/** Which runs a process that executes runs may claim. */
import { type Labels, labelPattern, mostLabels } from '../../../domain/placement.ts'
import type { ReadSetting, SettingTable } from './setting-row.ts'

export interface PlacementSettings {
  /** Labels of the process, such as `{ region: 'eu' }`. */
  readonly labels: Labels
}

const part = labelPattern.source.slice(1, -1)

export const placementTable = {
  'placement.labels': {
    schema: {
      type: 'array',
      items: { type: 'string', pattern: `^${part}=${part}$` },
      maxItems: mostLabels,
    },
    otherwise: [],
    what: 'labels of this process, such as region=eu: it also executes the runs whose placement has no other labels',
    env: ['PROVISO_LABELS'],
  },
} as const satisfies SettingTable

export function readPlacementSettings(at: ReadSetting<typeof placementTable>): PlacementSettings {
  const labels = at<readonly string[]>('placement.labels')
  return { labels: Object.fromEntries(labels.map((label) => label.split('='))) }
}
