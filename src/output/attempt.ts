/** One candidate, tried: decoded, converted toward the schema, checked, and priced by how much had to be changed. */
import type { Issue } from '../base/issue.ts'
import type { Pointer } from '../base/pointer.ts'
import { coerce } from './coerce.ts'
import type { Guide, ValueChange } from './coercing.ts'
import { rules } from './rules.ts'
import type { Region } from './scan.ts'
import type { Settings } from './settings.ts'
import type { Guided, Target } from './target.ts'
import type { Node, TextEdit } from './tree.ts'

export interface Attempt {
  readonly region: Region
  readonly edits: readonly TextEdit[]
  readonly changes: readonly ValueChange[]
  readonly branches: Readonly<Record<Pointer, number>>
  /** The value before the validator's own transformations. */
  readonly plain: unknown
  /** The value that the caller gets. */
  readonly value: unknown
  readonly valid: boolean
  readonly cost: number
  /** Doubts met on the way; with any of them the attempt is not valid. */
  readonly issues: readonly Issue[]
}

/** Everything an attempt is made with. */
export interface Trial {
  readonly text: string
  readonly settings: Settings
  readonly target: Target
  readonly guide: Guide | undefined
}

export function trialOf(text: string, settings: Settings, target: Target): Trial {
  return { text, settings, target, guide: target.guided && guideOf(target.guided, settings) }
}

function guideOf(guided: Guided, settings: Settings): Guide {
  let fuel = settings.limits.steps
  return {
    ...guided,
    settings,
    spend(steps) {
      fuel -= steps
      return fuel >= 0
    },
  }
}

/** What led to the node that is tried, when it is not the region's own. */
export interface Before {
  readonly changes: readonly ValueChange[]
  readonly cost: number
}

const NOTHING: Before = { changes: [], cost: 0 }

/** Tries a node of a region; `after` may wrap the converted value into what the schema wants around it. */
export function attempt(
  trial: Trial,
  region: Region,
  node: Node = region.node,
  before: Before = NOTHING,
  text = region.source ?? trial.text,
): Attempt {
  const { guide, target, settings } = trial
  const coercion = guide === undefined ? undefined : coerce(guide, node, text)
  const changes =
    coercion === undefined || coercion.changes.length === 0
      ? before.changes
      : [...before.changes, ...coercion.changes]
  const plain = coercion === undefined ? node.value : coercion.value
  const issues = [...(coercion?.issues ?? []), ...intolerable(region.edits, settings)]
  const checked = issues.length === 0 ? target.check(plain) : undefined
  return {
    region,
    edits: region.edits,
    changes,
    branches: coercion?.branches ?? {},
    plain,
    value: checked?.ok ? checked.value : plain,
    valid: checked?.ok ?? false,
    cost: before.cost + (coercion?.cost ?? 0) + costOf(region.edits),
    issues,
  }
}

function costOf(edits: readonly TextEdit[]): number {
  let cost = 0
  for (const edit of edits) cost += rules[edit.rule].cost
  return cost
}

/** Edits that the tolerance does not allow. */
function intolerable(edits: readonly TextEdit[], settings: Settings): Issue[] {
  if (settings.tolerance === 2) return []
  const edit = edits.find((e) => rules[e.rule].level > settings.tolerance)
  if (edit === undefined) return []
  const { level, sentence } = rules[edit.rule]
  return [
    {
      code: 'output/tolerance',
      at: { span: [edit.start, edit.end] },
      message: `the text can be read only if ${sentence}, which needs tolerance ${level}`,
      hint: `Set tolerance to ${level}`,
    },
  ]
}
