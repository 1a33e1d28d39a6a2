/**
 * Resolves the effective `processing` of a step: global settings, overridden by the agent, overridden by the
 * step, plus promotion.
 */
import { isObject, type Json } from '../../base/json.ts'
import { type GivenProcessing, layOver } from '../../domain/draft/processing.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { ArosConfig } from '../config/aros-config.ts'
import type { StepProcessing } from '../parse/pipeline.ts'

interface Decided {
  readonly processing: GivenProcessing
  /** The schema enabled structured output, because neither step, agent nor settings set it (FSD-07, C14). */
  readonly promoted: boolean
}

interface Layers {
  readonly aros: ArosConfig
  readonly agent: StepProcessing
  /** Absent: the step has no such block. */
  readonly step: StepProcessing | undefined
  readonly schema: JsonSchema
}

/** Overrides a step that allows text, when the settings forbid it. */
const neverText: GivenProcessing = { fallback: { degrade_to_string: false } }

/** With the master switch off, providers get no schema and nothing is repaired. */
const legacy: GivenProcessing = { structured_output: 'off', aop: 'off', enforcement: 'off' }

export function decideProcessing({ aros, agent, step, schema }: Layers): Decided {
  if (!aros.enabled) return { processing: legacy, promoted: false }
  const own = layOver(agent.said, step?.said ?? {})
  const promoted =
    aros.autoPromote &&
    own['structured_output'] === undefined &&
    !aros.said.has('structured_output_default') &&
    isStructured(schema)
  const said = layOver(globalBlock(aros), promoted ? { structured_output: 'openai_json', ...own } : own)
  const limited = aros.fallback.degradeToString ? said : layOver(said, neverText)
  return { processing: { ...limited, aop: getAop(said, own, aros) }, promoted }
}

/** Where repair is active, parsing starts at level full, unless the level is set explicitly. */
function getAop(said: GivenProcessing, own: GivenProcessing, aros: ArosConfig): Json {
  if (own['aop'] !== undefined) return own['aop']
  if (aros.said.has('enable_aop_default')) return aros.enableAopDefault
  const acts = said['structured_output'] !== 'off' && (said['enforcement'] ?? 'repair') === 'repair'
  if (acts) return 'full'
  // A tolerant decoder is part of the reader: setting a level enables the reader, without conversions.
  const { tolerant_level: level = 0 } = said['coercion'] as { readonly tolerant_level?: number }
  return level > 0 && aros.enableAopDefault === 'off' ? 'minimal' : aros.enableAopDefault
}

/**
 * With `enforcement: off` the model gets the schema but the answer is not checked; this applies only where
 * structured output is on.
 */
export function isHeld(processing: GivenProcessing): boolean {
  return processing['structured_output'] === 'off' || processing['enforcement'] !== 'off'
}

function globalBlock(aros: ArosConfig): GivenProcessing {
  return {
    structured_output: aros.structuredOutputDefault,
    coercion: {
      // Otherwise the reader's own default: 2 at level full, 0 at minimal.
      ...(aros.said.has('coercion_tolerant_level') && { tolerant_level: aros.coercionTolerantLevel }),
      max_unescape_depth: aros.maxUnescapeDepth,
      anyof_strategy: aros.anyofStrategy,
    },
    repair: { max_attempts: aros.repair.maxAttempts, enable_llm: aros.repair.enableLlm },
    fallback: {
      max_stages: aros.fallback.maxStages,
      enable_extractor: aros.fallback.enableExtractor,
      // Only the step itself may allow a text in place of a structured answer.
      degrade_to_string: false,
    },
    degrade_on_unexpected_behavior: aros.degradeOnUnexpectedBehavior,
    schema_simplify: aros.schemaSimplify,
    ...(!aros.streaming.aggregateStructured && { streaming: { aggregate_structured: false } }),
    reasoning_precheck: { enabled: aros.enableReasoningPrecheck },
  }
}

/** Only the settings that are set explicitly, for files whose tasks have defaults of their own. */
export function saidBlock(aros: ArosConfig): GivenProcessing {
  if (!aros.enabled) return legacy
  const every: GivenProcessing = { ...globalBlock(aros), aop: aros.enableAopDefault }
  const said = [...aros.said].flatMap((key): GivenProcessing[] => {
    const [name = '', part] = blockKeys[key] ?? []
    const value = every[name]
    if (value === undefined) return []
    return [{ [name]: part !== undefined && isObject(value) ? { [part]: value[part] as Json } : value }]
  })
  return said.reduce(layOver, {})
}

/** The key of each setting in a `processing` block. */
const blockKeys: Readonly<Record<string, readonly [name: string, part?: string]>> = {
  structured_output_default: ['structured_output'],
  enable_aop_default: ['aop'],
  coercion_tolerant_level: ['coercion', 'tolerant_level'],
  max_unescape_depth: ['coercion', 'max_unescape_depth'],
  anyof_strategy: ['coercion', 'anyof_strategy'],
  enable_reasoning_precheck: ['reasoning_precheck', 'enabled'],
  degrade_on_unexpected_behavior: ['degrade_on_unexpected_behavior'],
  schema_simplify: ['schema_simplify'],
  'repair.max_attempts': ['repair', 'max_attempts'],
  'repair.enable_llm': ['repair', 'enable_llm'],
  'fallback.max_stages': ['fallback', 'max_stages'],
  'fallback.enable_extractor': ['fallback', 'enable_extractor'],
  'fallback.degrade_to_string': ['fallback', 'degrade_to_string'],
  'streaming.aggregate_structured': ['streaming', 'aggregate_structured'],
}

/** Is the root an object or an array? Plain texts stay plain. */
export function isStructured(schema: JsonSchema): boolean {
  if (!isObject(schema)) return false
  const type = schema['type']
  const types = Array.isArray(type) ? type : [type]
  return (
    types.some((each) => each === 'object' || each === 'array') ||
    (type === undefined && isObject(schema['properties']))
  )
}
