/** The `processing` of a step with everything decided: global settings, the agent's, the step's own on top, and promotion. */
import { isObject, type Json } from '../../base/json.ts'
import { type GivenProcessing, layOver } from '../../domain/processing.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { ArosConfig } from '../aros-config.ts'
import type { StepProcessing } from '../pipeline.ts'

export interface Decided {
  readonly processing: GivenProcessing
  /** Structured output was switched on by the schema, because neither step, agent nor settings name it (FSD-07, C14). */
  readonly promoted: boolean
}

export interface Layers {
  readonly aros: ArosConfig
  readonly agent: StepProcessing
  /** Absent: the step has no such block. */
  readonly step: StepProcessing | undefined
  readonly schema: JsonSchema
}

/** The settings forbid what a step may otherwise allow. */
const neverText: GivenProcessing = { fallback: { degrade_to_string: false } }

/** With the master switch off nothing is asked of providers and nothing is repaired. */
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
  return { processing: { ...limited, aop: aopOf(said, own, aros) }, promoted }
}

/** Where repairing acts it begins with the reader at full, unless somebody said how far it may go. */
function aopOf(said: GivenProcessing, own: GivenProcessing, aros: ArosConfig): Json {
  if (own['aop'] !== undefined) return own['aop']
  if (aros.said.has('enable_aop_default')) return aros.enableAopDefault
  const acts = said['structured_output'] !== 'off' && (said['enforcement'] ?? 'repair') === 'repair'
  if (acts) return 'full'
  // A tolerant decoder is a part of the reader: asking for one switches the reader on, without conversions.
  const { tolerant_level: level = 0 } = said['coercion'] as { readonly tolerant_level?: number }
  return level > 0 && aros.enableAopDefault === 'off' ? 'minimal' : aros.enableAopDefault
}

/** `enforcement: off`: the schema is asked for and not held; it acts only where structured output is on. */
export function isHeld(processing: GivenProcessing): boolean {
  return processing['structured_output'] === 'off' || processing['enforcement'] !== 'off'
}

function globalBlock(aros: ArosConfig): GivenProcessing {
  return {
    structured_output: aros.structuredOutputDefault,
    coercion: {
      tolerant_level: aros.coercionTolerantLevel,
      max_unescape_depth: aros.maxUnescapeDepth,
      anyof_strategy: aros.anyofStrategy,
    },
    repair: { max_attempts: aros.repair.maxAttempts, enable_llm: aros.repair.enableLlm },
    fallback: {
      max_stages: aros.fallback.maxStages,
      enable_extractor: aros.fallback.enableExtractor,
      // That a text may stand in for an answer is for the step to say.
      degrade_to_string: false,
    },
    degrade_on_unexpected_behavior: aros.degradeOnUnexpectedBehavior,
    schema_simplify: aros.schemaSimplify,
    ...(!aros.streaming.aggregateStructured && { streaming: { aggregate_structured: false } }),
    reasoning_precheck: { enabled: aros.enableReasoningPrecheck },
  }
}

/** Only what somebody has said in the settings, for files whose tasks have defaults of their own. */
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

/** Where a setting stands in a `processing` block. */
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

/** An object or an array at the root; plain texts stay plain. */
export function isStructured(schema: JsonSchema): boolean {
  if (!isObject(schema)) return false
  const type = schema['type']
  const types = Array.isArray(type) ? type : [type]
  return (
    types.some((each) => each === 'object' || each === 'array') ||
    (type === undefined && isObject(schema['properties']))
  )
}
