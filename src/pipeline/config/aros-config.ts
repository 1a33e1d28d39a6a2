/** The settings of `[aros]` with their defaults. They apply to every step of a pipeline that does not override them. */
import type { Json } from '../../base/json.ts'
import { closed, countOrNone, flag } from '../../domain/schemas/parts.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'

export interface ArosConfig {
  /** Master switch: false reads every text as strict JSON or plain text. */
  readonly enabled: boolean
  readonly structuredOutputDefault: 'off' | 'auto' | 'openai_json'
  readonly enableAopDefault: 'off' | 'minimal' | 'full'
  readonly coercionTolerantLevel: 0 | 1 | 2
  readonly maxUnescapeDepth: number
  readonly anyofStrategy: 'first-pass'
  readonly enableReasoningPrecheck: boolean
  readonly correctionLedgerEnabled: boolean
  /** Keep the redacted raw texts of models in the store. */
  readonly storeRaw: boolean
  readonly degradeOnUnexpectedBehavior: boolean
  readonly schemaSimplify: boolean
  /** Agents with an object or array schema get structured output unless it is configured otherwise (C14). */
  readonly autoPromote: boolean
  readonly repair: { readonly maxAttempts: number; readonly enableLlm: boolean }
  readonly fallback: {
    readonly maxStages: number
    readonly enableExtractor: boolean
    readonly degradeToString: boolean
  }
  readonly streaming: { readonly aggregateStructured: boolean }
  readonly telemetry: { readonly verbose: boolean }
  /** Keys that are set explicitly, as spelt in the file: an explicit value is binding, a default may be promoted. */
  readonly said: ReadonlySet<string>
}

interface Row {
  readonly schema: JsonSchema
  readonly otherwise: Json
  readonly what: string
}

/** Every key by its dotted name below `[aros]`. */
export const arosTable = {
  enabled: { schema: flag, otherwise: true, what: 'master switch; false reads strictly and repairs nothing' },
  structured_output_default: {
    schema: { enum: ['off', 'auto', 'openai_json'] },
    otherwise: 'off',
    what: 'structured output of steps that do not say',
  },
  enable_aop_default: {
    schema: { enum: ['off', 'minimal', 'full'] },
    otherwise: 'off',
    what: 'how far texts are repaired and converted where a step does not say',
  },
  coercion_tolerant_level: {
    schema: { enum: [0, 1, 2] },
    otherwise: 0,
    what: '0 strict JSON, 1 JSON5, 2 guided repair',
  },
  max_unescape_depth: {
    schema: { type: 'integer', minimum: 0, maximum: 16 },
    otherwise: 2,
    what: 'how often JSON inside of texts is unfolded',
  },
  anyof_strategy: {
    schema: { enum: ['first-pass'] },
    otherwise: 'first-pass',
    what: 'which branch of a union is taken',
  },
  enable_reasoning_precheck: {
    schema: flag,
    otherwise: false,
    what: 'checks plans before the first call',
  },
  correction_ledger_enabled: {
    schema: flag,
    otherwise: false,
    what: 'what was changed while reading is kept in a table of its own, made with the first run',
  },
  store_raw: {
    schema: flag,
    otherwise: true,
    what: 'keeps the raw texts of models in the store, redacted; false stores only the values',
  },
  degrade_on_unexpected_behavior: {
    schema: flag,
    otherwise: true,
    what: 'continues with the next fallback step after an error of a provider',
  },
  schema_simplify: { schema: flag, otherwise: false, what: 'a flat schema is tried before giving up' },
  auto_promote: {
    schema: flag,
    otherwise: true,
    what: 'object and array schemas of agents switch structured output on',
  },
  'repair.max_attempts': { schema: countOrNone, otherwise: 2, what: 'calls of a model to repair one text' },
  'repair.enable_llm': { schema: flag, otherwise: true, what: 'models repair texts' },
  'fallback.max_stages': { schema: countOrNone, otherwise: 3, what: 'stages after repair' },
  'fallback.enable_extractor': {
    schema: flag,
    otherwise: true,
    what: 'the value is extracted from the text by a model',
  },
  'fallback.degrade_to_string': {
    schema: flag,
    otherwise: true,
    what: 'steps may take the text itself at last, where they say so (`processing.fallback.degrade_to_string: true`); never under a contract with constraints or a RAO contract. `false` forbids it to all',
  },
  'streaming.aggregate_structured': {
    schema: flag,
    otherwise: true,
    what: 'streams of structured steps are gathered and judged at their end; false calls such steps without a stream',
  },
  'telemetry.verbose': {
    schema: flag,
    otherwise: false,
    what: 'prints the trace events of model calls: as lines during a run, and in the log of a server',
  },
} as const satisfies Record<string, Row>

export type ArosKey = keyof typeof arosTable

/** `preset = "safe"`: the values that it sets, unless a key overrides them. */
export const presets = {
  safe: { structured_output_default: 'auto', enable_aop_default: 'minimal' },
} as const satisfies Record<string, Partial<Record<ArosKey, Json>>>

/** Converts the dotted keys into a schema with nested tables. */
export function arosSchema(): JsonSchema {
  const top: Record<string, JsonSchema> = { preset: { enum: Object.keys(presets) } }
  const tables: Record<string, Record<string, JsonSchema>> = {}
  for (const [key, { schema, what }] of Object.entries(arosTable)) {
    const [table = '', name] = key.split('.')
    const described = { ...schema, description: what }
    if (name === undefined) top[table] = described
    else tables[table] = { ...tables[table], [name]: described }
  }
  for (const [table, properties] of Object.entries(tables)) top[table] = closed(properties)
  return closed(top)
}

/** Builds the settings from values by dotted name; absent ones get their defaults. */
export function arosConfig(given: Partial<Readonly<Record<ArosKey, Json>>> = {}): ArosConfig {
  const at = <T>(key: ArosKey): T => (given[key] ?? arosTable[key].otherwise) as T
  return {
    enabled: at('enabled'),
    structuredOutputDefault: at('structured_output_default'),
    enableAopDefault: at('enable_aop_default'),
    coercionTolerantLevel: at('coercion_tolerant_level'),
    maxUnescapeDepth: at('max_unescape_depth'),
    anyofStrategy: at('anyof_strategy'),
    enableReasoningPrecheck: at('enable_reasoning_precheck'),
    correctionLedgerEnabled: at('correction_ledger_enabled'),
    storeRaw: at('store_raw'),
    degradeOnUnexpectedBehavior: at('degrade_on_unexpected_behavior'),
    schemaSimplify: at('schema_simplify'),
    autoPromote: at('auto_promote'),
    repair: { maxAttempts: at('repair.max_attempts'), enableLlm: at('repair.enable_llm') },
    fallback: {
      maxStages: at('fallback.max_stages'),
      enableExtractor: at('fallback.enable_extractor'),
      degradeToString: at('fallback.degrade_to_string'),
    },
    streaming: { aggregateStructured: at('streaming.aggregate_structured') },
    telemetry: { verbose: at('telemetry.verbose') },
    said: new Set(Object.keys(given)),
  }
}
