/**
 * The reasoning precheck of a node (not the proof of a plan, C60): before the first call, checks that the required inputs
 * are present and the node's plan is sound. Off by default. It never fails a node: it reports, or adds guidance (C6, C7).
 */
import { isObject, type Json, own } from '../../../base/json.ts'
import type { PrecheckAgent, PrecheckSettings } from '../../../domain/draft/processing.ts'
import type { Bundle } from '../../../domain/ports/dispatcher.ts'
import type { ParseText } from '../../../domain/ports/parse-text.ts'
import type { Provider } from '../../../domain/ports/provider.ts'
import type { Redactor } from '../../../domain/redaction/redact.ts'
import { undescribedFields } from '../../../schema/build/project.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { Caller, OnEvent } from './model-caller.ts'
import { taskPrompt } from './prompts.ts'

interface PrecheckTask {
  readonly settings: PrecheckSettings
  /** What the model of the node will be shown. */
  readonly bundle: Bundle
  /** The inputs of the node, including inputs that only the precheck reads. */
  readonly inputs: Json
  readonly redactor: Redactor
  readonly caller: Caller
  readonly onEvent: OnEvent
  /** The node's own model. */
  readonly model: string
  /** For agents that name no model. */
  readonly defaultModel: string
  readonly findProvider: (model: string) => Provider | undefined
  readonly parseText: ParseText
}

/** Text to add to the prompt; `undefined` in mode `observe`, or when the check passes. */
type Guidance = { readonly text: string; readonly key?: string } | undefined

export async function precheck(task: PrecheckTask): Promise<Guidance> {
  const { settings, bundle, onEvent } = task
  if (!settings.enabled) return undefined
  const missing = checklist(task)
  if (missing.length > 0) {
    const feedback = `Missing: ${missing.join(', ')}`
    onEvent('aros.reasoning.precheck.fail', { reason: 'checklist', missing })
    return guidance(settings, feedback)
  }
  const plan = planIn(bundle, settings.delimiters) ?? (await disputedPlan(task))
  if (plan === undefined) {
    onEvent('aros.reasoning.precheck.skipped', { reason: 'there is no plan' })
    return undefined
  }
  const verdict = await validate(task, plan)
  if (verdict === undefined) {
    onEvent('aros.reasoning.precheck.pass', { reason: 'checklist' })
    return undefined
  }
  const { pass, score, feedback } = verdict
  const scored = score === undefined ? {} : { score }
  onEvent('reasoning.validation', { result: pass ? 'pass' : 'fail', ...scored })
  onEvent(`aros.reasoning.precheck.${pass ? 'pass' : 'fail'}`, { reason: 'validator', ...scored })
  return pass ? undefined : guidance(settings, feedback)
}

/** Returns the missing basics, without which no validator is worth its call: context keys, then parts of the output schema. */
function checklist({ inputs, bundle: { returns }, settings }: PrecheckTask): string[] {
  const missing = settings.requiredContextKeys.filter(
    (key) => !isObject(inputs) || own(inputs, key) === undefined || own(inputs, key) === null,
  )
  return [...missing, ...missingInSchema(returns)]
}

/** Keys that only describe a schema, or say no more than that it is an object. */
const shapelessKeys = new Set(['$schema', '$id', 'title', 'description', 'type'])

/** Returns what the output schema lacks: a shape, the fields of an object, or the schema of a required field. */
function missingInSchema(returns: JsonSchema): string[] {
  if (!isObject(returns)) return returns === true ? ['a schema'] : []
  const keys = Object.keys(returns)
  if (keys.length === 0) return ['a schema']
  if (returns['type'] === 'object' && keys.every((key) => shapelessKeys.has(key)))
    return ['fields in the schema']
  return undescribedFields(returns).map((name) => `a schema for "${name}"`)
}

/** The text between the delimiters, wherever the node was given it. */
function planIn(
  { instructions, inputs }: Bundle,
  [opens, closes]: readonly [string, string],
): string | undefined {
  for (const text of [instructions, ...textsIn(inputs)]) {
    const start = text.indexOf(opens)
    const end = start < 0 ? -1 : text.indexOf(closes, start + opens.length)
    if (end >= 0) return text.slice(start + opens.length, end).trim()
  }
  return undefined
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  return isObject(value) || Array.isArray(value) ? Object.values(value as object).flatMap(textsIn) : []
}

/** Splits the inputs of a node: what its model is shown, without what only the precheck reads. */
export function withoutContextInputs(bundle: Bundle, { contextInputs }: PrecheckSettings): Bundle {
  if (contextInputs.length === 0 || !isObject(bundle.inputs)) return bundle
  const shown = Object.entries(bundle.inputs as { [name: string]: Json }).filter(
    ([name]) => !contextInputs.includes(name),
  )
  return { ...bundle, inputs: Object.fromEntries(shown) }
}

/** Several short plans of the model itself; when they differ too much, one of them is worth validating. */
async function disputedPlan(task: PrecheckTask): Promise<string | undefined> {
  const { settings, bundle, onEvent, redactor } = task
  if (settings.consensusSamples < 2) return undefined
  const agent = settings.consensusAgent ?? { model: task.model, instructions: bundle.instructions }
  const plans: string[] = []
  for (let n = 0; n < settings.consensusSamples; n++) {
    const text = await ask(task, agent, {
      system: 'Say in at most five short lines how you would do this. Do not do it.',
      prompt: `${taskPrompt({ bundle, redactor })}\nSample ${n + 1}`,
    })
    if (text !== undefined) plans.push(text)
  }
  if (plans.length < 2) return undefined
  const score = agreement(plans)
  const agreed = score >= settings.consensusThreshold
  onEvent('aros.reasoning.consensus', { score, samples: plans.length, agreed })
  return agreed || settings.mode === 'observe' ? undefined : plans[0]
}

interface Verdict {
  readonly pass: boolean
  readonly score?: number
  readonly feedback: string
}

const verdictSchema = {
  type: 'object',
  properties: {
    is_correct: { type: 'boolean' },
    is_valid: { type: 'boolean' },
    ok: { type: 'boolean' },
    score: { type: 'number', minimum: 0, maximum: 1 },
    feedback: { type: 'string' },
  },
} as const

async function validate(task: PrecheckTask, plan: string): Promise<Verdict | undefined> {
  const { settings, bundle, inputs, redactor } = task
  const { validatorAgent } = settings
  if (validatorAgent === undefined) return undefined
  const goal = isObject(inputs) ? own(inputs, settings.goalContextKey) : undefined
  const answer = `Answer with JSON only, satisfying this JSON Schema:\n${JSON.stringify(verdictSchema)}`
  const text = await ask(task, validatorAgent, {
    system: validatorAgent.instructions ? answer : `You check plans. ${answer}`,
    prompt: JSON.stringify(redactor.value({ plan, goal: goal ?? bundle.objective })),
  })
  const read = text === undefined ? undefined : await task.parseText(text, verdictSchema, {})
  if (!read?.ok || !isObject(read.value)) return undefined
  const { is_correct, is_valid, ok, score, feedback } = read.value
  const said = [is_correct, is_valid, ok].find((word) => typeof word === 'boolean')
  if (said === undefined && typeof score !== 'number') return undefined
  const low = typeof score === 'number' && score < settings.scoreThreshold
  return {
    pass: said !== false && !low,
    ...(typeof score === 'number' && { score }),
    feedback: typeof feedback === 'string' ? feedback : 'The plan does not hold; think it over.',
  }
}

/** One small call; it draws on the node's budget and always leaves a call for the work itself. */
async function ask(
  { caller, findProvider, settings, onEvent, defaultModel }: PrecheckTask,
  { model = defaultModel, instructions = '' }: PrecheckAgent,
  { system, prompt }: { readonly system: string; readonly prompt: string },
): Promise<string | undefined> {
  const provider = findProvider(model)
  if (provider === undefined || caller.left() < 2) {
    const reason = provider === undefined ? `no provider for "${model}"` : 'the budget is needed for the work'
    onEvent('aros.reasoning.precheck.skipped', { reason })
    return undefined
  }
  const called = await caller.call({
    system: instructions === '' ? system : `${instructions}\n\n${system}`,
    prompt,
    model,
    provider,
    maxOutputTokens: settings.maxTokens,
  })
  return called.kind === 'answer' && called.answer.kind === 'text' ? called.answer.text : undefined
}

function guidance(settings: PrecheckSettings, feedback: string): Guidance {
  if (settings.mode === 'observe' || settings.injectFeedback === undefined) return undefined
  if (settings.injectFeedback === 'context_key') return { text: feedback, key: settings.contextFeedbackKey }
  return { text: `${settings.retryGuidancePrefix}${feedback}` }
}

/** How far several plans say the same: the mean over all pairs of the share of words they have in common (Jaccard). */
export function agreement(plans: readonly string[]): number {
  const words = plans.map((plan) => new Set(plan.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []))
  let [sum, pairs] = [0, 0]
  for (const [index, one] of words.entries()) {
    for (const other of words.slice(index + 1)) {
      const shared = [...one].filter((word) => other.has(word)).length
      const all = new Set([...one, ...other]).size
      sum += all === 0 ? 1 : shared / all
      pairs++
    }
  }
  return pairs === 0 ? 1 : sum / pairs
}
