/**
 * The `processing` block of a node (`data.processing`): how the text of its model is generated and parsed, with the
 * keys of the specification. A capability's settings are defaults; the node's own settings override them (C8).
 */
import { isObject, type Json } from '../../base/json.ts'
import type { Allow, ParseOptions } from '../../output/index.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Parsed } from '../parse/parsed.ts'
import { checkNoun } from '../parse/parsed.ts'
import type { StructuredIntent } from '../ports/provider.ts'
import { processingSchema } from '../schemas/processing-schema.ts'

export interface Processing {
  readonly structuredOutput: StructuredIntent
  readonly aop: 'off' | 'minimal' | 'full'
  /** The reader says what it would do and changes nothing: texts are read as with `aop: off` (AROS-29). */
  readonly shadow: boolean
  /**
   * `repair` lets the fallback steps act, `validate` only the reader; `off` takes the answer as it is, for the node's contract to
   * judge. Where structured output is off, none of them acts.
   */
  readonly enforcement: 'off' | 'validate' | 'repair'
  /** Under `enforcement: off`: what the model is asked for. Default: the contract of the node. */
  readonly askedSchema?: JsonSchema
  /** The text must satisfy the schema without any repair. */
  readonly enforceGrammar: boolean
  readonly reader: Pick<
    ParseOptions,
    'tolerance' | 'unescapeDepth' | 'anyOf' | 'allow' | 'stages' | 'linearPatterns'
  >
  /** Stages of your own by name, run in this order after the built-in ones and before the final validation. */
  readonly stages: readonly string[]
  readonly repair: { readonly maxAttempts: number; readonly enableLlm: boolean }
  readonly fallback: {
    readonly maxStages: number
    readonly enableExtractor: boolean
    /** Never applies under a contract with constraints or a RAO contract, regardless of this setting (C18). */
    readonly degradeToString: boolean
  }
  /** Errors of the provider continue with the next fallback step instead of ending the attempt. */
  readonly degradeOnUnexpected: boolean
  readonly schemaSimplify: boolean
  readonly streaming: {
    readonly enabled: boolean
    readonly earlyAbort: boolean
    /** Gather the stream of a structured node and judge it at its end; false: such nodes are called whole (FSD-13). */
    readonly aggregateStructured: boolean
  }
  readonly precheck: PrecheckSettings
  readonly maxOutputTokens?: number
}

/** `observe` reports the findings, `guide` also adds them to the prompt. */
type PrecheckMode = 'observe' | 'guide'

/** Who is asked in a precheck. Without a model: the default model of the app. */
export interface PrecheckAgent {
  readonly model?: string
  /** Its system prompt. */
  readonly instructions?: string
}

export interface PrecheckSettings {
  readonly enabled: boolean
  readonly mode: PrecheckMode
  /** The model that judges the plan; without one only the checklist is gone through. */
  readonly validatorAgent?: PrecheckAgent
  readonly maxTokens: number
  readonly scoreThreshold: number
  readonly requiredContextKeys: readonly string[]
  /** Inputs of the node that only the precheck reads: the goal and the required keys. They are not part of the prompt. */
  readonly contextInputs: readonly string[]
  readonly injectFeedback?: 'prepend' | 'context_key'
  readonly retryGuidancePrefix: string
  readonly contextFeedbackKey: string
  readonly goalContextKey: string
  readonly delimiters: readonly [string, string]
  /** The model that writes the plans to compare; the node's own when absent. */
  readonly consensusAgent?: PrecheckAgent
  /** Fewer than two: no consensus is looked for. */
  readonly consensusSamples: number
  readonly consensusThreshold: number
}

/** A block as its author writes it. */
export type GivenProcessing = { readonly [key: string]: Json }

/** What holds for runs of envelopes, whose nodes always have a contract; pipelines say everything themselves (C1). */
export const defaultProcessing: GivenProcessing = {
  structured_output: 'auto',
  aop: 'full',
  enforcement: 'repair',
}

/** Checks one block; defaults are not filled in, so that blocks can be laid over each other. */
export function checkProcessing(given: unknown): Parsed<GivenProcessing> {
  const issues = checkNoun(processingSchema, given as Json, 'Remove it: processing has no such key')
  if (issues.length > 0) return { ok: false, issues, warnings: [] }
  return { ok: true, value: given as GivenProcessing, warnings: [] }
}

/** Merges validated blocks, later ones override earlier ones, and fills in the defaults. */
export function mergeProcessing(...blocks: readonly (GivenProcessing | undefined)[]): Processing {
  const said = blocks.reduce<GivenProcessing>((under, over) => (over ? layOver(under, over) : under), {})
  const part = (name: string): GivenProcessing =>
    isObject(said[name]) ? (said[name] as GivenProcessing) : {}
  const [repair, fallback, streaming] = [part('repair'), part('fallback'), part('streaming')]
  const acts =
    pick(said, 'structured_output', 'off') !== 'off' && pick(said, 'enforcement', 'repair') === 'repair'
  return {
    structuredOutput: pick(said, 'structured_output', 'off'),
    // Where repair is active, the reader starts at full unless set otherwise (DECISIONS 26).
    aop: pick(said, 'aop', acts ? 'full' : 'off'),
    shadow: pick(said, 'shadow', false),
    enforcement: pick(said, 'enforcement', 'repair'),
    enforceGrammar: pick(said, 'enforce_grammar', false),
    reader: toReader(part('coercion')),
    stages: pick<readonly string[]>(said, 'stages', []),
    repair: { maxAttempts: pick(repair, 'max_attempts', 2), enableLlm: pick(repair, 'enable_llm', true) },
    fallback: {
      maxStages: pick(fallback, 'max_stages', 3),
      enableExtractor: pick(fallback, 'enable_extractor', true),
      degradeToString: pick(fallback, 'degrade_to_string', false),
    },
    degradeOnUnexpected: pick(said, 'degrade_on_unexpected_behavior', true),
    schemaSimplify: pick(said, 'schema_simplify', false),
    streaming: {
      enabled: pick(streaming, 'enabled', false),
      earlyAbort: pick(streaming, 'early_abort', true),
      aggregateStructured: pick(streaming, 'aggregate_structured', true),
    },
    precheck: toPrecheck(part('reasoning_precheck')),
    ...present({
      maxOutputTokens: said['max_output_tokens'] as number | undefined,
      askedSchema: said['schema'] as JsonSchema | undefined,
    }),
  }
}

function toReader(said: GivenProcessing): Processing['reader'] {
  return present({
    tolerance: said['tolerant_level'] as 0 | 1 | 2 | undefined,
    unescapeDepth: said['max_unescape_depth'] as number | undefined,
    anyOf: said['anyof_strategy'] as 'first-pass' | undefined,
    allow: said['allow'] as Allow | undefined,
  })
}

function toPrecheck(said: GivenProcessing): PrecheckSettings {
  return {
    enabled: pick(said, 'enabled', false),
    mode: pick<PrecheckMode>(said, 'mode', 'guide'),
    ...present({
      validatorAgent: toPrecheckAgent(said['validator_agent']),
      consensusAgent: toPrecheckAgent(said['consensus_agent']),
      injectFeedback: (said['inject_feedback'] ?? undefined) as 'prepend' | 'context_key' | undefined,
    }),
    maxTokens: pick(said, 'max_tokens', 200),
    scoreThreshold: pick(said, 'score_threshold', 0.7),
    requiredContextKeys: pick<readonly string[]>(said, 'required_context_keys', []),
    contextInputs: pick<readonly string[]>(said, 'context_inputs', []),
    retryGuidancePrefix: pick(said, 'retry_guidance_prefix', 'Guidance: '),
    contextFeedbackKey: pick(said, 'context_feedback_key', '_aros_retry_guidance'),
    goalContextKey: pick(said, 'goal_context_key', 'initial_input'),
    delimiters: pick<readonly [string, string]>(said, 'delimiters', ['<thinking>', '</thinking>']),
    consensusSamples: pick(said, 'consensus_samples', 0),
    consensusThreshold: pick(said, 'consensus_threshold', 0.7),
  }
}

/** A model by its name, or a model with a system prompt. */
function toPrecheckAgent(said: Json | undefined): PrecheckAgent | undefined {
  return typeof said === 'string' ? { model: said } : (said as PrecheckAgent | undefined)
}

/** One block over another: members inside members, everything else replaced. */
export function layOver(under: GivenProcessing, over: GivenProcessing): GivenProcessing {
  const laid: Record<string, Json> = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const below = under[key]
    laid[key] = isObject(value) && isObject(below) ? layOver(below as GivenProcessing, value) : value
  }
  return laid
}

/** The schema has checked the types; what is absent has this default. */
function pick<T>(block: GivenProcessing, key: string, otherwise: T): T {
  return (block[key] as T | undefined) ?? otherwise
}

/** Drops undefined members. */
function present<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}
