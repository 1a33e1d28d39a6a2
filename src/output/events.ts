/** The named trace events (AROS-54…56), sent only when something was changed or went wrong (C12). */
import type { Issue } from '../base/issue.ts'
import { type JsonType, jsonType, own } from '../base/json.ts'
import { type Pointer, tokens } from '../base/pointer.ts'
import type { Made } from './repairs.ts'
import { rules } from './rules.ts'
import type { ParseResult, ReaderEvent, Stage } from './types.ts'

const ORDER: readonly Stage[] = ['extract', 'tolerant', 'syntactic', 'semantic', 'custom']

type Send = (event: ReaderEvent) => void

/** On success each stage that acted reports its attempt and its success; on failure the attempts, and the stage that failed. */
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
      ...typesOf(stage, made, result),
      ...mark,
    })
    // A text that is discarded was not read with success, however far it came.
    if (result.ok)
      send({ type: 'output.coercion.success', stage, transforms, ...branchesOf(stage, result), ...mark })
  }
  if (!result.ok) {
    const error_preview = (result.issues[0]?.message ?? 'no value was found').slice(0, 200)
    send({ type: 'output.coercion.fail', stage: failedStage(made, result.issues[0]), error_preview, ...mark })
  }
}

/** The stage that could not do its part, by the first issue; a value that does not fit failed toward the schema. */
function failedStage({ edits, custom }: Made, issue: Issue | undefined): Stage {
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

/** The type that each conversion leads to; for other rules it is the type of the resulting value. */
const leadsTo: { readonly [rule: string]: JsonType } = {
  'str->int': 'integer',
  'str->float': 'number',
  'str->bool': 'boolean',
  'num->bool': 'boolean',
  'word->bool': 'boolean',
  'str->null': 'null',
  'num->str': 'string',
  'json->str': 'string',
  'str->array': 'array',
  'str->object': 'object',
  wrap: 'array',
}

/** Changes that are not about the type of a value. */
const untyped: ReadonlySet<string> = new Set(['key', 'drop-key', 'null-absent', 'default', 'drop-item'])

function typesOf(
  stage: Stage,
  made: Made,
  result: ParseResult,
): { expected_type?: JsonType; actual_type?: JsonType } {
  const change =
    stage === 'semantic' ? made.changes.find(({ rule }) => rules[rule].stage === stage) : undefined
  if (change === undefined || untyped.has(change.rule)) return {}
  const outcome = result.ok ? result.value : result.candidate
  const expected_type = leadsTo[change.rule] ?? jsonType(valueAt(outcome, change.pointer))
  const actual_type = jsonType(change.before)
  return { ...(expected_type && { expected_type }), ...(actual_type && { actual_type }) }
}

function valueAt(value: unknown, pointer: Pointer): unknown {
  let place = value
  for (const token of tokens(pointer))
    place = typeof place === 'object' && place !== null ? own(place, token) : undefined
  return place
}

function branchesOf(stage: Stage, result: ParseResult): object {
  if (stage !== 'semantic' || Object.keys(result.branches).length === 0) return {}
  const root = result.branches['']
  return { branch_choices: result.branches, ...(root !== undefined && { branch_index: root }) }
}
