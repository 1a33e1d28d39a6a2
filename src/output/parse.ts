/**
 * Parses model text into a value of the caller's schema. Fast path: strict JSON that validates is returned unchanged.
 * Otherwise the parser finds the value, decodes it tolerantly, applies the allowed conversions and validates again.
 */

import { once } from '../base/once.ts'
import { parseQuietly } from './decode/quick-strict.ts'
import { beginsTooDeep, deeperThan, parseStrict } from './decode/strict.ts'
import { hasFastPaths } from './fast-paths.ts'
import { type Attempt, createTrial, type Trial } from './find/attempt.ts'
import { find } from './find/find.ts'
import type { Infer } from './infer.ts'
import type { ReaderIssue } from './issue-table.ts'
import { describeFault } from './json-error.ts'
import { sendEvents } from './report/events.ts'
import { type CustomChange, countRepairs, type Made, madeBy, materialise } from './report/repairs.ts'
import { resolveTarget, type Target } from './schema/target.ts'
import { resolveSettings, type Settings } from './settings.ts'
import { type Allowance, createAllowance } from './step-budget.ts'
import type { AnySchema, ParseFailure, ParseOptions, ParseResult, ParseSuccess, Repair } from './types.ts'

const NO_OPTIONS: ParseOptions = {}
const NONE: readonly [] = []
const NO_BRANCHES: Readonly<Record<string, number>> = Object.freeze({})

/**
 * Never throws for bad text or a bad schema: an unusable schema is reported as an issue located in the schema
 * (`schema/invalid`, `schema/limit`). Throws `ProvisoError` for an unusable option.
 *
 * @example
 * const result = parse("Sure! {'name': 'Ada', age: '36'}", { type: 'object', properties: { age: { type: 'integer' } } })
 * if (result.ok) result.value // { name: 'Ada', age: 36 }
 */
export function parse<const S extends AnySchema = AnySchema>(
  text: string,
  schema?: S,
  options: ParseOptions = NO_OPTIONS,
): ParseResult<Infer<S>> {
  const settings = resolveSettings(options)
  const target = resolveTarget(schema, options)
  // The cast is safe: `check` has accepted the value.
  const result = withinStack(text, settings, () => parseToward(text, target, settings))
  return withNotes(result, target.notes) as ParseResult<Infer<S>>
}

/** Appends the notes for the schema's author after the issues of the value. */
function withNotes(result: ParseResult, notes: readonly ReaderIssue[]): ParseResult {
  return notes.length === 0 ? result : { ...result, issues: [...result.issues, ...notes] }
}

/** `parse` plus the number of steps used: work measured without a clock. Called by the search for slow texts. */
export function parseCounted(
  text: string,
  schema?: AnySchema,
  options: ParseOptions = NO_OPTIONS,
): { readonly result: ParseResult; readonly steps: number } {
  const settings = resolveSettings(options)
  const allowance = createAllowance(text, settings.limits)
  const target = resolveTarget(schema, options)
  const result = withinStack(text, settings, () => parseToward(text, target, settings, allowance))
  return { result, steps: allowance.used }
}

/**
 * Reports a stack overflow as an issue, like any other limit: strict JSON of any depth reaches the validator, and the
 * validator of a recursive schema recurses.
 */
function withinStack(text: string, settings: Settings, work: () => ParseResult): ParseResult {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const message = 'the value is nested too deeply for this schema'
    return failure(text, [{ ...depthIssue(text, settings), message, hint: 'Ask the model for less' }])
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
  const trial = createTrial(text, { strict, settings, target, allowance })
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

function failure(raw: string, issues: readonly ReaderIssue[]): ParseFailure {
  return { ok: false, issues, repairs: NONE, repairCount: 0, truncated: false, branches: NO_BRANCHES, raw }
}

function tooLong(text: string, limit: number): ReaderIssue {
  return {
    code: 'limit/bytes',
    at: { span: [limit, text.length] },
    message: `the text has ${text.length} characters, more than limits.bytes (${limit}) allows`,
    hint: 'Raise limits.bytes, or ask the model for less',
  }
}

/** Strict mode, without repairs: the text is valid JSON and valid under the schema, or the result is a failure. */
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

function notJson(text: string): ReaderIssue {
  const reason =
    parseQuietly(text) === undefined ? describeFault(text) : 'it holds a number that would lose digits'
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

/**
 * Reports that the step budget ran out before every reading was tried: an untried reading might have been the right
 * one.
 */
function stepsIssue({ text, allowance }: Trial): readonly ReaderIssue[] {
  if (!allowance.exhausted) return NONE
  return [
    {
      code: 'limit/steps',
      at: allowance.location ?? { span: [0, text.length] },
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

function depthIssue(text: string, settings: Settings): ReaderIssue {
  const { depth } = settings.limits
  return {
    code: 'limit/depth',
    at: { span: [0, text.length] },
    message: `the value is nested deeper than limits.depth (${depth}) allows`,
    hint: 'Raise limits.depth (at most 2000)',
  }
}

function nothingFound(text: string): ReaderIssue {
  const empty = text.trim() === ''
  return {
    code: empty ? 'output/empty' : 'output/not-found',
    at: { span: [0, text.length] },
    message: empty ? 'the text is empty' : 'no value was found in the text',
    hint: 'Ask the model to return only JSON',
  }
}

/** Runs the caller's custom stages, validates once more and builds the result. */
function settle(trial: Trial, attempt: Attempt, shadow: boolean): ParseResult {
  const { text, target, settings } = trial
  const { value, custom, issues } = runStages(trial, attempt)
  const outOfSteps = stepsIssue(trial)
  const made = once(() => madeBy(text, attempt, custom))
  const checked = issues.length > 0 || custom.length === 0 ? undefined : target.check(value)
  const ok =
    issues.length === 0 && outOfSteps.length === 0 && (checked === undefined ? attempt.valid : checked.ok)
  const found = ok
    ? { value: checked?.ok ? checked.value : attempt.value }
    : { issues: allIssues([...outOfSteps, ...issues], target.explain(value), attempt), value }
  const result = toResult({ text, attempt, made, limit: settings.limits.repairs }, found)
  const send = settings.options.onEvent
  if (send !== undefined && (!ok || countRepairs(made()) > 0)) sendEvents(send, made(), result, shadow)
  return result
}

interface Account {
  readonly text: string
  readonly attempt: Attempt
  readonly made: () => Made
  readonly limit: number
  list?: readonly Repair[]
}

/**
 * Key under which a result stores its account. A WeakMap would keep results alive until the next full garbage
 * collection.
 */
const ACCOUNT = Symbol('account')

interface Accounted {
  readonly [ACCOUNT]: Account
}

/** Property descriptors shared by all results: separate getters would give every result its own hidden class. */
const LAZY = {
  repairs: {
    enumerable: true,
    configurable: true,
    get(this: Accounted): readonly Repair[] {
      const account = this[ACCOUNT]
      account.list ??= materialise(account.text, account.made(), account.limit)
      return account.list
    },
  },
  repairCount: {
    enumerable: true,
    configurable: true,
    get(this: Accounted): number {
      return countRepairs(this[ACCOUNT].made())
    },
  },
}

/** Builds the result with lazy `repairs` and `repairCount`: most callers never read them, and the list can be long. */
function toResult(account: Account, found: { value: unknown; issues?: readonly ReaderIssue[] }): ParseResult {
  const { text, attempt } = account
  const { value, issues } = found
  const { branches } = attempt
  const { truncated } = attempt.region
  const result: object =
    issues === undefined
      ? { ok: true, value, issues: NONE, truncated, branches, raw: text }
      : { ok: false, issues, candidate: value, truncated, branches, raw: text }
  if (!hasFastPaths) return withRepairs(result, account)
  Object.defineProperty(result, ACCOUNT, { value: account })
  // Two separate calls: `defineProperties` with both takes four times as long.
  Object.defineProperty(result, 'repairs', LAZY.repairs)
  return Object.defineProperty(result, 'repairCount', LAZY.repairCount) as ParseResult
}

/** The same in short: every such result has a hidden class of its own. */
function withRepairs(result: object, { text, made, limit }: Account): ParseResult {
  const repairs = once(() => materialise(text, made(), limit))
  return {
    ...result,
    get repairs() {
      return repairs()
    },
    get repairCount() {
      return countRepairs(made())
    },
  } as object as ParseResult
}

function allIssues(
  own: readonly ReaderIssue[],
  found: readonly ReaderIssue[],
  attempt: Attempt,
): readonly ReaderIssue[] {
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
): { value: unknown; custom: CustomChange[]; issues: readonly ReaderIssue[] } {
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
