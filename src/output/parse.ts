/**
 * Reads model text into a value of the caller's schema. The happy path first: strict JSON that validates is returned
 * untouched. Otherwise the value is found, decoded tolerantly, converted by allowed conversions and validated again.
 */
import type { Issue } from '../base/issue.ts'
import { type Allowance, createAllowance } from './allowance.ts'
import { type Attempt, type Trial, trialOf } from './attempt.ts'
import { sendEvents } from './events.ts'
import { find } from './find.ts'
import { type CustomChange, countOf, type Made, madeBy, materialise } from './repairs.ts'
import { type Settings, settingsOf } from './settings.ts'
import { beginsTooDeep, deeperThan, parseStrict } from './strict.ts'
import { type Target, targetOf } from './target.ts'
import type {
  AnySchema,
  Infer,
  ParseFailure,
  ParseOptions,
  ParseResult,
  ParseSuccess,
  Repair,
} from './types.ts'

const NO_OPTIONS: ParseOptions = {}
const NONE: readonly [] = []
const NO_BRANCHES: Readonly<Record<string, number>> = Object.freeze({})

/**
 * Never throws on bad text nor on a bad schema: an unusable schema is an issue located in the schema (`schema/invalid`,
 * `schema/limit`). Throws `ProvisoError` for an unusable option.
 *
 * @example
 * const result = parse("Sure! {'name': 'Ada', age: '36'}", { type: 'object', properties: { age: { type: 'integer' } } })
 * if (result.ok) result.value // { name: 'Ada', age: 36 }
 */
export function parse<S extends AnySchema = AnySchema>(
  text: string,
  schema?: S,
  options: ParseOptions = NO_OPTIONS,
): ParseResult<Infer<S>> {
  const settings = settingsOf(options)
  const target = targetOf(schema, options)
  // The cast is the promise of the schema: `check` has accepted the value.
  const result = withinStack(text, settings, () => parseToward(text, target, settings))
  return withNotes(result, target.notes) as ParseResult<Infer<S>>
}

/** What the author of the schema should know comes after what is wrong with the value. */
function withNotes(result: ParseResult, notes: readonly Issue[]): ParseResult {
  return notes.length === 0 ? result : { ...result, issues: [...result.issues, ...notes] }
}

/** `parse`, and how many steps of the allowance it took: work measured without a clock. Called by the search for slow texts. */
export function parseCounted(
  text: string,
  schema?: AnySchema,
  options: ParseOptions = NO_OPTIONS,
): { readonly result: ParseResult; readonly steps: number } {
  const settings = settingsOf(options)
  const allowance = createAllowance(text, settings.limits)
  const target = targetOf(schema, options)
  const result = withinStack(text, settings, () => parseToward(text, target, settings, allowance))
  return { result, steps: allowance.used }
}

/**
 * The call stack is a limit too: strict JSON of any depth reaches the validator, and a validator of a recursive schema
 * recurses. Running out of it is an issue like any other limit.
 */
function withinStack(text: string, settings: Settings, work: () => ParseResult): ParseResult {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return failure(text, [depthIssue(text, settings)])
  }
}

function parseToward(text: string, target: Target, settings: Settings, given?: Allowance): ParseResult {
  const { limits, options } = settings
  if (target.refused.length > 0) return failure(text, target.refused)
  if (text.length > limits.bytes) return failure(text, [tooLong(text, limits.bytes)])
  if (beginsTooDeep(text)) return failure(text, [depthIssue(text, settings)])
  const strict = parseStrict(text)
  if (strict !== undefined && !(options.untrusted && deeperThan(strict.value, limits.depth))) {
    const checked = target.check(strict.value)
    if (checked.ok && !options.stages?.length) return success(text, checked.value)
  }
  if (settings.aop === 'off') return readStrictly(text, strict, target)
  const allowance = given ?? createAllowance(text, limits)
  const trial = trialOf(text, { strict, settings, target, allowance })
  if (!options.shadow) return read(trial, false)
  const shadow = read(trial, true)
  return { ...readStrictly(text, strict, target), shadow }
}

function success(raw: string, value: unknown): ParseSuccess<unknown> {
  return {
    ok: true,
    value,
    issues: NONE,
    repairs: NONE,
    repairCount: 0,
    truncated: false,
    branches: NO_BRANCHES,
    raw,
  }
}

function failure(raw: string, issues: readonly Issue[]): ParseFailure {
  return { ok: false, issues, repairs: NONE, repairCount: 0, truncated: false, branches: NO_BRANCHES, raw }
}

function tooLong(text: string, limit: number): Issue {
  return {
    code: 'limit/bytes',
    at: { span: [limit, text.length] },
    message: `the text has ${text.length} characters, more than limits.bytes (${limit}) allows`,
    hint: 'Raise limits.bytes, or ask the model for less',
  }
}

/** No help: the text is JSON and valid, or it is not. */
function readStrictly(
  text: string,
  strict: { readonly value: unknown } | undefined,
  target: Target,
): ParseResult {
  if (strict === undefined) return failure(text, [notJson(text)])
  const checked = target.check(strict.value)
  if (checked.ok) return success(text, checked.value)
  return { ...failure(text, target.explain(strict.value)), candidate: strict.value }
}

function notJson(text: string): Issue {
  let reason = 'it holds a number that would lose digits'
  try {
    JSON.parse(text)
  } catch (error) {
    reason = (error as Error).message.slice(0, 160)
  }
  return {
    code: 'output/not-json',
    at: { span: [0, text.length] },
    message: `the text is not strict JSON: ${reason}`,
  }
}

function read(trial: Trial, shadow: boolean): ParseResult {
  const { text, settings } = trial
  const { attempt, tooDeep } = find(trial)
  if (attempt === undefined || tooDeep) {
    const outOfSteps = stepsIssue(trial)
    const issues = tooDeep ? [depthIssue(text, settings)] : [nothingFound(text)]
    const result = failure(text, outOfSteps.length > 0 ? outOfSteps : issues)
    settings.options.onEvent && sendEvents(settings.options.onEvent, NOTHING_MADE, result, shadow)
    return result
  }
  return settle(trial, attempt, shadow)
}

/** The steps ran out before every reading was tried: another value might have been the right one. */
function stepsIssue({ text, allowance }: Trial): readonly Issue[] {
  if (!allowance.exhausted) return NONE
  return [
    {
      code: 'limit/steps',
      at: allowance.place ?? { span: [0, text.length] },
      message: `the text can be read in too many ways: ${allowance.most} steps were not enough`,
      hint: 'Raise limits.steps, or ask the model for less',
    },
  ]
}

const NOTHING_MADE: Made = {
  region: { start: 0, end: 0, value: undefined },
  edits: NONE,
  changes: NONE,
  custom: NONE,
}

function depthIssue(text: string, settings: Settings): Issue {
  const { depth } = settings.limits
  return {
    code: 'limit/depth',
    at: { span: [0, text.length] },
    message: `the value is nested deeper than limits.depth (${depth}) allows`,
    hint: 'Raise limits.depth (at most 2000) if such depth is expected',
  }
}

function nothingFound(text: string): Issue {
  const empty = text.trim() === ''
  return {
    code: empty ? 'output/empty' : 'output/not-found',
    at: { span: [0, text.length] },
    message: empty ? 'the text is empty' : 'no value was found in the text',
    hint: 'Ask the model to return only JSON',
  }
}

/** Runs the caller's stages, validates once more, and writes the account. */
function settle(trial: Trial, attempt: Attempt, shadow: boolean): ParseResult {
  const { text, target, settings } = trial
  const { value, custom, issues } = runStages(trial, attempt)
  const outOfSteps = stepsIssue(trial)
  const made = madeBy(text, attempt, custom)
  const checked =
    issues.length > 0 ? undefined : custom.length > 0 || !attempt.valid ? target.check(value) : undefined
  const ok =
    issues.length === 0 && outOfSteps.length === 0 && (checked === undefined ? attempt.valid : checked.ok)
  const found = ok
    ? { value: checked?.ok ? checked.value : attempt.value }
    : { issues: allIssues([...outOfSteps, ...issues], target.explain(value), attempt), value }
  const result = resultOf({ text, attempt, made, limit: settings.limits.repairs }, found)
  const send = settings.options.onEvent
  if (send !== undefined && (!ok || countOf(made) > 0)) sendEvents(send, made, result, shadow)
  return result
}

interface Account {
  readonly text: string
  readonly attempt: Attempt
  readonly made: Made
  readonly limit: number
}

/** `repairs` is made when it is first read: most callers never do, and there can be many. */
function resultOf(account: Account, found: { value: unknown; issues?: readonly Issue[] }): ParseResult {
  const { text, attempt, made, limit } = account
  let list: readonly Repair[] | undefined
  const { value, issues } = found
  return {
    ...(issues === undefined
      ? { ok: true as const, value, issues: NONE }
      : { ok: false as const, issues, candidate: value }),
    get repairs() {
      list ??= materialise(text, made, limit)
      return list
    },
    repairCount: countOf(made),
    truncated: attempt.region.truncated,
    branches: attempt.branches,
    raw: text,
  }
}

function allIssues(own: readonly Issue[], found: readonly Issue[], attempt: Attempt): readonly Issue[] {
  if (own.length === 0 && found.length === 0) return [nothingFound('text')]
  const doubted = new Set(own.map((issue) => JSON.stringify(issue.at)))
  const issues = [...own, ...found.filter((issue) => !doubted.has(JSON.stringify(issue.at)))]
  if (!attempt.region.truncated) return issues
  return issues.map((issue) =>
    issue.hint ? issue : { ...issue, hint: 'The text was cut off; ask for it again' },
  )
}

function runStages(
  trial: Trial,
  attempt: Attempt,
): { value: unknown; custom: CustomChange[]; issues: readonly Issue[] } {
  const stages = trial.settings.options.stages ?? []
  const custom: CustomChange[] = []
  let value = attempt.plain
  let { issues } = attempt
  for (const stage of stages) {
    try {
      const after = stage.run(value, { text: trial.text, schema: trial.target.jsonSchema })
      if (after === undefined || after === value) continue
      custom.push({ name: stage.name, before: value, after })
      value = after
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      issues = [
        ...issues,
        { code: 'output/stage', at: { pointer: '' }, message: `stage "${stage.name}" threw: ${reason}` },
      ]
    }
  }
  return { value, custom, issues }
}
