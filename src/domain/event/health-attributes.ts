/**
 * Aggregates the trace of one attempt into flat `aros.*` span attributes about the health of its step (AROS-60). The
 * result is bounded for any trace, and the function is total: malformed events are skipped. Used by stores when they
 * project, and by `src/health`.
 */
import { isObject, type Json, own } from '../../base/json.ts'
import type { Stage } from '../../output/index.ts'
import type { EventPayloads } from '../event.ts'
import type { RepairNote } from '../output.ts'

/** Counters and names, by attribute. */
export type HealthAttributes = { readonly [attribute: string]: Json }

export const stages = [
  'extract',
  'tolerant',
  'syntactic',
  'semantic',
  'custom',
] as const satisfies readonly Stage[]

/** The fallback steps after the first call, by the names in their events (FSD-34). */
export const fallbackStages = ['llm', 'stricter', 'extractor', 'simplified', 'degrade'] as const

/** Maximum number of distinct names per list of one attempt. */
const mostNames = 20
const longestName = 120

type Draft = Record<string, Json>
type Payload = Record<string, unknown>
type Tally = (draft: Draft, payload: Payload) => void

/** One row per event that counts. Attempted repairs do not count, only applied ones (C12). */
const tallies: { readonly [event: string]: Tally } = {
  'output.coercion.success': (draft, payload) => {
    const stage = pickKnown(stages, payload['stage'])
    const transforms = namesIn(payload['transforms'])
    if (stage === undefined || transforms.length === 0) return
    const family = getFamily(payload)
    count(draft, `${family}.total`)
    count(draft, `${family}.stage.${stage}`)
    addNames(draft, `${family}.transforms`, transforms)
    if (family === 'aros.coercion') addCorrection(draft, stage, transforms)
  },
  'output.coercion.fail': (draft, payload) => {
    const stage = pickKnown(stages, payload['stage'])
    if (stage === undefined) return
    count(draft, `${getFamily(payload)}.failed`)
    count(draft, `${getFamily(payload)}.failed.${stage}`)
  },
  'aros.soe.enabled': (draft, payload) => {
    count(draft, 'aros.soe.count')
    name(draft, 'aros.soe.mode', payload['applied'] ?? payload['mode'])
  },
  'aros.soe.skipped': (draft, payload) => {
    count(draft, 'aros.soe.skipped')
    name(draft, 'aros.soe.skipped.reason', payload['reason'])
  },
  'aros.reasoning.precheck.pass': (draft) => {
    count(draft, 'aros.precheck.total')
    count(draft, 'aros.precheck.pass')
  },
  'aros.reasoning.precheck.fail': (draft) => {
    count(draft, 'aros.precheck.total')
    count(draft, 'aros.precheck.fail')
  },
  'aros.reasoning.precheck.skipped': (draft) => count(draft, 'aros.precheck.skipped'),
  'aros.repair.started': (draft, payload) => {
    if (payload['stage'] === 'deterministic') name(draft, schemaHashKey, payload['schema_hash'])
    countFallback(draft, payload, 'started')
  },
  'aros.repair.success': (draft, payload) => countFallback(draft, payload, 'success'),
  'aros.repair.failed': (draft, payload) => countFallback(draft, payload, 'failed'),
  'aros.fallback.stage': (draft, payload) => countFallback(draft, payload, payload['result']),
  'agent.usage': (draft, payload) => name(draft, 'aros.model_id', payload['model']),
}

/** Whether an event of the trace counts for health attributes. */
export function isHealthEvent({ event }: EventPayloads['log']): boolean {
  return Object.hasOwn(tallies, event)
}

/** Returns the attributes of an attempt after one more event of its trace; the same object if the event does not count. */
export function addHealthEvent(
  signals: HealthAttributes | undefined,
  log: EventPayloads['log'],
): HealthAttributes | undefined {
  const tally = isHealthEvent(log) ? tallies[log.event] : undefined
  if (tally === undefined) return signals
  const draft: Draft = { ...signals }
  tally(draft, isObject(log.payload) ? log.payload : {})
  return Object.keys(draft).length === 0 ? signals : draft
}

interface AttemptEnd {
  readonly model?: string
  readonly repairs?: readonly RepairNote[]
}

/** Keys that only the ledger of corrections reads: kept until the attempt ends, and never part of its span. */
const correctionsKey = 'ledger.corrections'
const schemaHashKey = 'ledger.schema_hash'
const most = { corrections: 10, transforms: 10, name: 40 } as const

/** One stage that changed an answer. */
interface Correction {
  readonly stage: Stage
  readonly transforms: readonly string[]
  /** Number of fallback steps taken before. */
  readonly depth: number
  readonly schemaHash?: string
}

export function corrections(signals: HealthAttributes): readonly Correction[] {
  // Only `addCorrection` writes it.
  return (own(signals, correctionsKey) ?? []) as unknown as readonly Correction[]
}

function addCorrection(draft: Draft, stage: Stage, transforms: readonly string[]): void {
  const before = corrections(draft)
  if (before.length >= most.corrections) return
  const hash = draft[schemaHashKey]
  const correction = {
    stage,
    transforms: transforms.slice(0, most.transforms).map((one) => one.slice(0, most.name)),
    depth: fallbackStages.reduce((sum, one) => sum + counted(draft, `aros.fallback.stage.${one}`), 0),
    ...(typeof hash === 'string' && { schemaHash: hash }),
  }
  draft[correctionsKey] = [...before, correction] as unknown as Json
}

/** Adds what is known at the end of the attempt: the model, and the locations of repairs. Empty without a model. */
export function finishHealthAttributes(
  signals: HealthAttributes | undefined,
  { model, repairs = [] }: AttemptEnd,
): HealthAttributes {
  if (signals === undefined && model === undefined) return {}
  const draft: Draft = { ...signals }
  delete draft[correctionsKey]
  delete draft[schemaHashKey]
  name(draft, 'aros.model_id', model)
  const locations = repairs.flatMap(({ rule, pointer }) =>
    pointer === undefined || pointer === '' ? [] : [`${rule} ${anyItem(pointer)}`],
  )
  if (locations.length > 0) addNames(draft, 'aros.coercion.places', locations)
  return draft
}

/** Replaces list indexes by `*`, so that all items of a list share one location. */
function anyItem(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*')
}

/** Returns the attribute prefix; repairs in shadow mode, which were not applied, are counted separately (AROS-29). */
function getFamily(payload: Payload): string {
  return payload['shadow'] === true ? 'aros.shadow' : 'aros.coercion'
}

/** Counts a fallback step and its usage. The reader's own repair, stage `deterministic`, is counted as coercion instead. */
function countFallback(draft: Draft, payload: Payload, result: unknown): void {
  const stage = pickKnown(fallbackStages, payload['stage'])
  if (stage === undefined) return
  if (result === 'started') count(draft, `aros.fallback.stage.${stage}`)
  if (result !== 'success' && result !== 'failed') return
  if (result === 'success') count(draft, `aros.fallback.stage.${stage}.success`)
  // Only a step that made a call reports its usage.
  const [input, output] = [amount(payload['input_tokens']), amount(payload['output_tokens'])]
  if (input === undefined || output === undefined) return
  count(draft, 'aros.repair.calls')
  count(draft, 'aros.repair.input_tokens', input)
  count(draft, 'aros.repair.output_tokens', output)
  const cost = amount(payload['cost_usd'])
  if (cost === undefined) count(draft, 'aros.repair.cost_unknown')
  else count(draft, 'aros.repair.cost_usd', cost)
}

function count(draft: Draft, attribute: string, by = 1): void {
  draft[attribute] = (amount(draft[attribute]) ?? 0) + by
}

function name(draft: Draft, attribute: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') draft[attribute] = value.slice(0, longestName)
}

/** Sorted, so that attempts that are alike have the same attributes. */
function addNames(draft: Draft, attribute: string, names: readonly string[]): void {
  const before = draft[attribute]
  const all = new Set([...namesIn(before), ...names.map((one) => one.slice(0, longestName))])
  draft[attribute] = [...all].slice(0, mostNames).sort()
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string' && item !== '') : []
}

function amount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

function pickKnown<T extends string>(known: readonly T[], value: unknown): T | undefined {
  return known.find((one) => one === value)
}

/** Returns a counter of an attempt's attributes; zero if absent. */
export function counted(signals: HealthAttributes, attribute: string): number {
  return amount(own(signals, attribute)) ?? 0
}

/** Returns a list of names among an attempt's attributes. */
export function listed(signals: HealthAttributes, attribute: string): readonly string[] {
  return namesIn(own(signals, attribute))
}
