/** One candidate, tried: decoded, converted toward the schema, checked, and priced by how much had to be changed. */
import type { Issue } from '../base/issue.ts'
import type { Pointer } from '../base/pointer.ts'
import { type Allowance, ATTEMPT, Sizes } from './allowance.ts'
import { coerce, type Source } from './coerce.ts'
import type { Guide } from './coercing.ts'
import type { ValueChange } from './record.ts'
import type { Region } from './region.ts'
import { type RuleName, rules } from './rules.ts'
import type { Settings } from './settings.ts'
import type { Strict } from './strict.ts'
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
  /** The text as strict JSON, where it is. */
  readonly strict: Strict
  readonly settings: Settings
  readonly target: Target
  readonly allowance: Allowance
  readonly guide: Guide | undefined
}

export function trialOf(
  text: string,
  { strict, settings, target, allowance }: Omit<Trial, 'text' | 'guide'>,
): Trial {
  const guide = target.guided && guideOf(target.guided, settings, allowance)
  return { text, strict, settings, target, allowance, guide }
}

function guideOf(guided: Guided, settings: Settings, allowance: Allowance): Guide {
  const session = once(() => guided.compiled.openSession())
  const sizes = new Sizes()
  const accepts: Guide['accepts'] = (pointer, value) => {
    const { judged, acceptsAt } = session()
    if (judged === undefined) return allowance.spend(sizes.of(value)) && acceptsAt(pointer, value)
    if (allowance.exhausted) return false
    // Remembered verdicts cost nothing: what is charged is what was judged for this question.
    const accepted = acceptsAt(pointer, value)
    return allowance.spend((session().judged as number) - judged) && accepted
  }
  return { ...guided, settings, allowance, accepts }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Rules after which a plain value does not tell what stood in the text. */
const HIDING: ReadonlySet<RuleName> = new Set(['not-a-number', 'big-number'])

function sourceOf(region: Region, inner: Node | undefined, text: string): Omit<Source, 'unfolded'> {
  if (inner !== undefined) return { value: inner.value, text, node: () => inner, needsNodes: true }
  const needsNodes = region.edits.some((edit) => HIDING.has(edit.rule))
  return { value: region.value, text, node: () => region.node, needsNodes }
}

/** What led to the node that is tried, when it is not the region's own. */
export interface Before {
  readonly changes: readonly ValueChange[]
  readonly cost: number
  /** How often strings were unfolded; default not at all. */
  readonly unfolded?: number
}

const NOTHING: Before = { changes: [], cost: 0 }

/** Tries a region, or a node inside it or around it. */
export function attempt(
  trial: Trial,
  region: Region,
  inner: Node | undefined = undefined,
  before: Before = NOTHING,
  text = region.source ?? trial.text,
): Attempt {
  const { guide, settings } = trial
  const value = inner === undefined ? region.value : inner.value
  // What is right as it stands is not touched, and a big document is not walked for nothing.
  const asItStands = guide === undefined ? undefined : check(trial, value, inner ?? region)
  const coercion =
    guide === undefined || asItStands?.ok
      ? undefined
      : coerce(guide, { ...sourceOf(region, inner, text), unfolded: before.unfolded ?? 0 })
  const changes =
    coercion === undefined || coercion.changes.length === 0
      ? before.changes
      : [...before.changes, ...coercion.changes]
  const plain = coercion === undefined ? value : coercion.value
  const issues = [
    ...(coercion?.issues ?? []),
    ...intolerable(region.edits, settings),
    ...strayValues(region.edits),
  ]
  const checked =
    issues.length > 0 ? undefined : asItStands?.ok ? asItStands : check(trial, plain, inner ?? region)
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

/** Asks the validator about a whole value; an object or list is charged by the length of the text that it was read from. */
function check(
  { target, allowance }: Trial,
  value: unknown,
  { start, end }: { readonly start: number; readonly end: number },
): ReturnType<Target['check']> {
  const size = typeof value === 'object' ? end - start : 1
  return allowance.spend(ATTEMPT + size, start) ? target.check(value) : NOT_CHECKED
}

const NOT_CHECKED = { ok: false } as const

function costOf(edits: readonly TextEdit[]): number {
  let cost = 0
  for (const edit of edits) cost += rules[edit.rule].cost
  return cost
}

/** Values that had no place: to drop them would be a silent loss. */
function strayValues(edits: readonly TextEdit[]): Issue[] {
  const edit = edits.find((e) => e.rule === 'stray-value')
  if (edit === undefined) return []
  return [
    {
      code: 'output/stray-value',
      at: { span: [edit.start, edit.end] },
      message: 'a value stands in an object without a key',
      hint: 'Give it a key, or close the list before it later',
    },
  ]
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
