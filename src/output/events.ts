/** The named trace events (AROS-54…56), sent only when something was changed or went wrong (C12). */
import { type JsonType, jsonType } from '../base/json.ts'
import type { Made } from './repairs.ts'
import { rules } from './rules.ts'
import type { ParseResult, ReaderEvent, Stage } from './types.ts'

const ORDER: readonly Stage[] = ['extract', 'tolerant', 'syntactic', 'semantic', 'custom']

type Send = (event: ReaderEvent) => void

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
      ...typesOf(stage, made),
      ...mark,
    })
    if (result.ok || stage !== lastStage(byStage)) {
      send({ type: 'output.coercion.success', stage, transforms, ...branchesOf(stage, result), ...mark })
    }
  }
  if (!result.ok) {
    const error_preview = (result.issues[0]?.message ?? 'no value was found').slice(0, 200)
    send({ type: 'output.coercion.fail', stage: lastStage(byStage) ?? 'extract', error_preview, ...mark })
  }
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

function lastStage(byStage: ReadonlyMap<Stage, unknown>): Stage | undefined {
  return ORDER.findLast((stage) => byStage.has(stage))
}

function typesOf(stage: Stage, made: Made): { expected_type?: JsonType; actual_type?: JsonType } {
  const change = stage === 'semantic' ? made.changes[0] : undefined
  if (change === undefined) return {}
  const expected_type = jsonType(change.after)
  const actual_type = jsonType(change.before)
  return { ...(expected_type && { expected_type }), ...(actual_type && { actual_type }) }
}

function branchesOf(stage: Stage, result: ParseResult): object {
  if (stage !== 'semantic' || Object.keys(result.branches).length === 0) return {}
  const root = result.branches['']
  return { branch_choices: result.branches, ...(root !== undefined && { branch_index: root }) }
}
