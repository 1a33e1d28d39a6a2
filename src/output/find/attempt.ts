/**
 * Evaluates one candidate: decodes it, converts it toward the schema, validates it, and computes the cost of the
 * changes.
 */

import { once } from '../../base/once.ts'
import type { Pointer } from '../../base/pointer.ts'
import { coerce, type Source } from '../coerce/coerce.ts'
import type { Guide } from '../coerce/coerce-context.ts'
import type { ValueChange } from '../coerce/record.ts'
import type { Strict } from '../decode/quick-strict.ts'
import { isSpecial, type Node } from '../decode/tree/tree.ts'
import type { ReaderIssue } from '../issue-table.ts'
import { rules } from '../rules.ts'
import type { Region } from '../scan/region.ts'
import type { Guided, Target } from '../schema/target.ts'
import type { Settings } from '../settings.ts'
import { type Allowance, ATTEMPT, countValues } from '../step-budget.ts'

export interface Attempt {
  readonly region: Region
  readonly changes: readonly ValueChange[]
  readonly branches: Readonly<Record<Pointer, number>>
  /** The value before the validator's own transformations. */
  readonly plain: unknown
  /** The value returned to the caller. */
  readonly value: unknown
  readonly valid: boolean
  readonly cost: number
  /** Doubts found on the way; an attempt with any of them is not valid. */
  readonly issues: readonly ReaderIssue[]
}

/** The inputs of an attempt. */
export interface Trial {
  readonly text: string
  /** The value of the text, if the text is strict JSON. */
  readonly strict: Strict
  readonly settings: Settings
  readonly target: Target
  readonly allowance: Allowance
  readonly guide: Guide | undefined
  /**
   * How many characters of strings may still be read as embedded texts: a small multiple of the text length, for any
   * nesting.
   */
  readonly unfolding: { left: number }
}

/** How often each character may be read as part of an embedded text. */
const UNFOLDED = 3

export function createTrial(
  text: string,
  {
    strict,
    settings,
    target,
    allowance,
    unfolding,
  }: Omit<Trial, 'text' | 'guide' | 'unfolding'> & Partial<Pick<Trial, 'unfolding'>>,
): Trial {
  const guide = target.guided && createGuide(target.guided, settings, allowance)
  const left = unfolding ?? { left: UNFOLDED * text.length }
  return { text, strict, settings, target, allowance, guide, unfolding: left }
}

function createGuide(guided: Guided, settings: Settings, allowance: Allowance): Guide {
  const session = once(() => guided.compiled.openSession())
  const accepts: Guide['accepts'] = (pointer, value) => {
    const { judged, acceptsAt } = session()
    if (allowance.exhausted) return false
    if (judged === undefined) return allowance.spend(countValues(value)) && acceptsAt(pointer, value)
    // Cached verdicts are free: charge only the values judged for this call.
    const accepted = acceptsAt(pointer, value)
    return allowance.spend((session().judged as number) - judged) && accepted
  }
  const { compiled, shapes } = guided
  return { compiled, shapes, settings, allowance, accepts, unions: new Map() }
}

function getSource(region: Region, inner: Node | undefined, text: string): Omit<Source, 'unfolded'> {
  if (inner !== undefined)
    return { value: inner.value, text, node: () => inner, needsNodes: isSpecial(inner) }
  return { value: region.value, text, node: () => region.node, needsNodes: region.summary.hides }
}

/** What led to the node being tried, when it is not the region's own node. */
export interface Before {
  readonly changes: readonly ValueChange[]
  readonly cost: number
  /** How many levels of strings were decoded; default 0. */
  readonly unfolded?: number
}

const NOTHING: Before = { changes: [], cost: 0 }

/** Tries a region, or a node inside or around it. */
export function attempt(
  trial: Trial,
  region: Region,
  inner: Node | undefined = undefined,
  before: Before = NOTHING,
  text = region.source ?? trial.text,
): Attempt {
  const { guide, settings } = trial
  const value = inner === undefined ? region.value : inner.value
  // A value that is already valid is not changed, which also avoids traversing a large document.
  const unchanged = guide === undefined ? undefined : check(trial, value, region, inner)
  const coercion =
    guide === undefined || unchanged?.ok
      ? undefined
      : coerce(guide, { ...getSource(region, inner, text), unfolded: before.unfolded ?? 0 })
  const changes =
    coercion === undefined || coercion.changes.length === 0
      ? before.changes
      : [...before.changes, ...coercion.changes]
  const plain = coercion === undefined ? value : coercion.value
  const own = [...(coercion?.issues ?? []), ...strayValues(region)]
  const checked =
    own.length > 0
      ? undefined
      : // A coercion that changed nothing leaves the verdict as it was.
        unchanged !== undefined && plain === value
        ? unchanged
        : check(trial, plain, region, inner)
  // A higher tolerance is proposed only where nothing else is wrong.
  const issues = checked?.ok ? intolerable(region, settings) : own
  return {
    region,
    changes,
    branches: coercion?.branches ?? {},
    plain,
    value: checked?.ok ? checked.value : plain,
    valid: issues.length === 0 && (checked?.ok ?? false),
    cost: before.cost + (coercion?.cost ?? 0) + region.summary.cost,
    issues,
  }
}

/**
 * Validates a whole value. An object or list is charged by the length of its source text, or by the number of its
 * values where finding the source would mean to read the text again.
 */
function check(
  { target, allowance }: Trial,
  value: unknown,
  region: Region,
  inner: Node | undefined,
): ReturnType<Target['check']> {
  if (!allowance.spend(ATTEMPT, region.start)) return NOT_CHECKED
  const source = inner ?? region
  const size =
    typeof value !== 'object' ? 1 : inner?.plain ? countValues(inner.value) : source.end - source.start
  return allowance.spend(size, region.start) ? target.check(value) : NOT_CHECKED
}

const NOT_CHECKED = { ok: false } as const

/** Reports values without a key or position: dropping them would be a silent loss. */
function strayValues(region: Region): ReaderIssue[] {
  const edit = region.summary.stray
  if (edit === undefined) return []
  return [
    {
      code: 'output/stray-value',
      at: { span: [edit.start, edit.end] },
      message: 'a value in an object has no key',
      hint: 'Give it a key',
    },
  ]
}

/** Reports edits that exceed the tolerance. */
function intolerable(region: Region, settings: Settings): ReaderIssue[] {
  if (settings.tolerance >= region.summary.level) return []
  const edit = region.edits.find((e) => rules[e.rule].level > settings.tolerance)
  if (edit === undefined) return []
  const { level } = rules[edit.rule]
  return [
    {
      code: 'output/tolerance',
      at: { span: [edit.start, edit.end] },
      message: `the text can be read only with the rule "${edit.rule}", which needs tolerance ${level}`,
      hint: `Set tolerance (in a pipeline, coercion.tolerant_level) to ${level}`,
    },
  ]
}
