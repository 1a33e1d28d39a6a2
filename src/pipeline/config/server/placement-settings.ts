/** Which runs a process that executes runs may claim. */
import { ProvisoError } from '../../../base/errors/error.ts'
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
    expected: 'NAME=VALUE, both of letters, digits, ".", "_" and "-"',
    otherwise: [],
    what: 'labels of this process, such as region=eu: it also executes the runs whose placement has no other labels',
    env: ['PROVISO_LABELS'],
  },
} as const satisfies SettingTable

export function readPlacementSettings(at: ReadSetting<typeof placementTable>): PlacementSettings {
  const labels = at<readonly string[]>('placement.labels')
  const pairs = labels.map((label): readonly [string, string] => {
    const [name = '', value = ''] = label.split('=')
    return [name, value]
  })
  const twice = pairs.find(([name], nth) => pairs.findIndex(([other]) => other === name) < nth)
  if (twice)
    throw new ProvisoError('option/invalid', `placement.labels has several values for "${twice[0]}"`, {
      hint: 'Start one process for each value',
    })
  return { labels: Object.fromEntries(pairs) }
}
