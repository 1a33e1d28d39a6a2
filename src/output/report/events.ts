/** Emits the named trace events (AROS-54…56), only when something was changed or failed (C12). */

import { type JsonType, jsonType } from '../../base/json.ts'
import { valueAt } from '../../base/pointer.ts'
import type { ReaderIssue } from '../issue-table.ts'
import { rules } from '../rules.ts'
import { conversions, isConversion } from '../settings.ts'
import type { ParseResult, ReaderEvent, Stage } from '../types.ts'
import type { Made } from './repairs.ts'

const ORDER: readonly Stage[] = ['extract', 'tolerant', 'syntactic', 'semantic', 'custom']

type Send = (event: ReaderEvent) => void

/**
 * On success, each stage that made changes reports an attempt and a success; on failure, the attempts and the failed
 * stage.
 */
export function sendEvents(send: Send, made: Made, result: ParseResult, shadow: boolean): void {
  const mark = shadow ? { shadow: true as const } : {}
  const byStage = transformsByStage(made)
  for (const stage of ORDER) {
    const transforms = byStage.get(stage)
    if (transforms === undefined) continue
    send({
      type: 'output.coercion.attempt',
      stage,
      reason: transforms[0] as string,
      ...getTypes(stage, made, result),
      ...mark,
    })
    // A discarded text never counts as a success, even if some stages completed.
    if (result.ok)
      send({ type: 'output.coercion.success', stage, transforms, ...getBranches(stage, result), ...mark })
  }
  if (!result.ok) {
    const error_preview = (result.issues[0]?.message ?? 'no value was found').slice(0, 200)
    send({ type: 'output.coercion.fail', stage: failedStage(made, result.issues[0]), error_preview, ...mark })
  }
}

/**
 * The failed stage, derived from the first issue; a value that does not match the schema failed in the semantic stage.
 */
function failedStage({ edits, custom }: Made, issue: ReaderIssue | undefined): Stage {
  const code = issue?.code ?? 'output/not-found'
  if (code === 'output/stage') return 'custom'
  if (code === 'output/tolerance' || code === 'output/stray-value') {
    const [start, end] = issue && 'span' in issue.at ? issue.at.span : []
    const edit = edits.find((each) => each.start === start && each.end === end)
    return edit === undefined ? 'tolerant' : rules[edit.rule].stage
  }
  if (code === 'limit/steps') return 'semantic'
  if (code.startsWith('output/') || code.startsWith('limit/')) return 'extract'
  return custom.length > 0 ? 'custom' : 'semantic'
}

function transformsByStage(made: Made): Map<Stage, string[]> {
  const byStage = new Map<Stage, string[]>()
  const add = (stage: Stage, name: string): void => {
    const names = byStage.get(stage)
    if (names === undefined) byStage.set(stage, [name])
    else if (!names.includes(name)) names.push(name)
  }
  for (const { rule } of made.edits) add(rules[rule].stage, rule)
  for (const { rule } of made.changes) add(rules[rule].stage, rule)
  for (const { name } of made.custom) add('custom', name)
  return byStage
}

/** The target type of a conversion; for other rules, the type of the resulting value is used. */
function leadsTo(rule: string): JsonType | undefined {
  const types = Object.keys(conversions) as (keyof typeof conversions)[]
  return types.find((type) => rule !== 'unwrap' && isConversion(type, rule))
}

/** Changes that do not affect the type of a value. */
const untyped: ReadonlySet<string> = new Set(['key', 'drop-key', 'null-absent', 'default', 'drop-item'])

function getTypes(
  stage: Stage,
  made: Made,
  result: ParseResult,
): { expected_type?: JsonType; actual_type?: JsonType } {
  const change =
    stage === 'semantic' ? made.changes.find(({ rule }) => rules[rule].stage === stage) : undefined
  if (change === undefined || untyped.has(change.rule)) return {}
  const outcome = result.ok ? result.value : result.candidate
  const expected_type = leadsTo(change.rule) ?? jsonType(valueAt(outcome, change.pointer))
  const actual_type = jsonType(change.before)
  return { ...(expected_type && { expected_type }), ...(actual_type && { actual_type }) }
}

function getBranches(stage: Stage, result: ParseResult): object {
  if (stage !== 'semantic' || Object.keys(result.branches).length === 0) return {}
  const root = result.branches['']
  return { branch_choices: result.branches, ...(root !== undefined && { branch_index: root }) }
}
