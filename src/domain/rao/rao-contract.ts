/**
 * RAO's contract of a node: when a model's own confidence is enough, when a person looks, when the answer is dropped.
 * Read from the node's data by the prover and the engine; the thresholds never reach a prompt.
 */

import { canonicalJson } from '../../base/canonical.ts'
import { closest } from '../../base/closest.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, own } from '../../base/json.ts'

/** Origin of a confidence: stated by the model, from token probabilities, or calibrated. */
export const confidenceTypes = ['verbalized', 'token_level', 'calibrated'] as const
export type ConfidenceType = (typeof confidenceTypes)[number]

export type RouteDecision = 'auto_approve' | 'human_review' | 'suppress'

/** The decision of a RAO contract on an answer, with its inputs: in the journal, in the stream and on the ask. */
export interface RaoDecision {
  readonly thresholds: Thresholds
  /** As the model reports it; null if it reports none, which leads to a review. */
  readonly confidence: number | null
  /** Origin of the confidence. */
  readonly type: string | null
  readonly escalate: boolean
  readonly decision: RouteDecision
  readonly reasoning?: string
}

/** `0 <= suppressBelow <= reviewLow <= reviewHigh <= autoApproveAbove <= 1`. */
export interface Thresholds {
  /** Confidence strictly above this is approved without a person. */
  readonly autoApproveAbove: number
  /** The band that is meant for review. Only its order is checked: gaps beside the band are reviewed too. */
  readonly reviewLow: number
  readonly reviewHigh: number
  /** Confidence strictly below drops the answer and fails the node. */
  readonly suppressBelow: number
}

export const defaultThresholds: Thresholds = {
  autoApproveAbove: 0.85,
  reviewLow: 0.5,
  reviewHigh: 0.85,
  suppressBelow: 0.5,
}

export interface RaoContract {
  readonly contractVersion: string
  readonly thresholds: Thresholds
  /** When set, the answer's `confidence_type` must be the same. */
  readonly confidenceType?: ConfidenceType
  /** Time for one inference; exceeding it fails the node. */
  readonly maxInferenceMs?: number
}

/**
 * The contract in a node's data; `undefined` when the node does not opt in (`contract` absent or false).
 *
 * @example
 * readRaoContract({ contract: true, suppressBelow: 0.3 })
 */
export function readRaoContract(data: unknown): RaoContract | RaoError | undefined {
  if (!isObject(data)) return undefined
  const enabled = readOptIn(own(data, 'contract'))
  if (enabled !== true) return enabled === false ? undefined : enabled
  const misspelled = findMisspelled(data)
  if (misspelled) return misspelled
  const thresholds = readThresholds(data)
  if (isRaoError(thresholds)) return thresholds
  const confidenceType = readConfidenceType(own(data, 'confidenceType'))
  if (isRaoError(confidenceType)) return confidenceType
  const maxInferenceMs = readMaxInferenceMs(own(data, 'maxInferenceMs'))
  if (isRaoError(maxInferenceMs)) return maxInferenceMs
  const version = own(data, 'contractVersion')
  return {
    contractVersion: typeof version === 'string' ? version : '1.0.0',
    thresholds,
    ...(confidenceType !== undefined && { confidenceType }),
    ...(maxInferenceMs !== undefined && { maxInferenceMs }),
  }
}

/**
 * Where an answer goes. Decided here, by the engine, never by the model: `escalate` can only force a person,
 * it lifts nothing past one and nothing past suppression.
 */
export function routeConfidence(
  thresholds: Thresholds,
  confidence: number,
  escalate: boolean,
): RouteDecision {
  if (confidence < thresholds.suppressBelow) return 'suppress'
  if (escalate) return 'human_review'
  return confidence > thresholds.autoApproveAbove ? 'auto_approve' : 'human_review'
}

export function isConfidenceType(value: unknown): value is ConfidenceType {
  return confidenceTypes.some((type) => type === value)
}

const optIns = new Map<unknown, boolean>([
  [undefined, false],
  [false, false],
  ['false', false],
  [true, true],
  ['true', true],
])

function readOptIn(value: unknown): boolean | RaoError {
  return optIns.get(value) ?? invalidField('contract', `expected a boolean, got ${shown(value)}`)
}

/** The keys of a contract in a node's data. */
export const raoFields: readonly string[] = [
  'contract',
  'autoApproveAbove',
  'reviewLow',
  'reviewHigh',
  'suppressBelow',
  'confidenceType',
  'maxInferenceMs',
  'contractVersion',
]

/** Data of a node may hold anything; what is nearly a field of the contract is a mistake that would loosen it in silence. */
function findMisspelled(data: object): RaoError | undefined {
  for (const key of Object.keys(data)) {
    if (raoFields.includes(key)) continue
    const meant = closest(key, raoFields.slice(1))
    if (meant !== undefined) return invalidField(key, `unknown field, did you mean \`${meant}\`?`)
  }
  return undefined
}

function readThresholds(data: object): Thresholds | RaoError {
  const read: Record<keyof Thresholds, number> = { ...defaultThresholds }
  for (const field of ['autoApproveAbove', 'reviewLow', 'reviewHigh', 'suppressBelow'] as const) {
    const value = own(data, field)
    if (value === undefined) continue
    if (typeof value !== 'number') return invalidField(field, `expected a number, got ${shown(value)}`)
    if (!(value >= 0 && value <= 1)) return invalidField(field, `${decimal(value)} is outside [0.0, 1.0]`)
    read[field] = value
  }
  return checkOrder(read)
}

function checkOrder(thresholds: Thresholds): Thresholds | RaoError {
  const { suppressBelow, reviewLow, reviewHigh, autoApproveAbove } = thresholds
  const ordered = suppressBelow <= reviewLow && reviewLow <= reviewHigh && reviewHigh <= autoApproveAbove
  if (ordered) return thresholds
  return invalidThresholds(
    `expected 0 <= suppressBelow (${decimal(suppressBelow)}) <= reviewLow (${decimal(reviewLow)}) ` +
      `<= reviewHigh (${decimal(reviewHigh)}) <= autoApproveAbove (${decimal(autoApproveAbove)}) <= 1`,
  )
}

function readConfidenceType(value: unknown): ConfidenceType | RaoError | undefined {
  if (value === undefined || isConfidenceType(value)) return value
  const got = typeof value === 'string' ? `\`${cut(value)}\`` : shown(value)
  return invalidField('confidenceType', `expected one of ${confidenceTypes.join(' | ')}, got ${got}`)
}

function readMaxInferenceMs(value: unknown): number | RaoError | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  return invalidField('maxInferenceMs', `expected a positive integer, got ${shown(value)}`)
}

// What is wrong with a RAO contract or with what a model answered under one; the texts are the specification's own.

export type RaoError =
  /** A contract field on the node is present but not usable. */
  | {
      readonly error: 'InvalidField'
      readonly field: string
      readonly reason: string
      readonly message: string
    }
  /** The thresholds are not in order. */
  | { readonly error: 'InvalidThresholds'; readonly reason: string; readonly message: string }
  /** The answer is not the envelope that the contract asks for: a failed node, not lower trust. */
  | { readonly error: 'SchemaViolation'; readonly reason: string; readonly message: string }

export function isRaoError(value: unknown): value is RaoError {
  return isObject(value) && errors.some((error) => error === own(value, 'error'))
}

const errors = ['InvalidField', 'InvalidThresholds', 'SchemaViolation'] as const satisfies RaoError['error'][]

function invalidField(field: string, reason: string): RaoError {
  return {
    error: 'InvalidField',
    field,
    reason,
    message: `invalid contract field \`${field}\`: ${reason}`,
  }
}

function invalidThresholds(reason: string): RaoError {
  return { error: 'InvalidThresholds', reason, message: `invalid contract thresholds: ${reason}` }
}

export function schemaViolation(reason: string): RaoError {
  return { error: 'SchemaViolation', reason, message: `output violates contract schema: ${reason}` }
}

/** The issue of an answer that breaks its contract, by which others know it. */
export const violationCode = 'rao/schema-violation'

export function violationIssue({ message }: RaoError): Issue {
  return { code: violationCode, at: { pointer: '' }, message }
}

/** Longer values are cut: a model must not be able to fill a log with its answer. */
const longest = 500

/** A value as compact JSON with sorted keys; what JSON cannot hold is named by its type. */
export function shown(value: unknown): string {
  return cut(asJson(value))
}

/** Truncates external text for use in a message. */
export function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

function asJson(value: unknown): string {
  if (typeof value === 'number') return decimal(value)
  try {
    return canonicalJson(value)
  } catch {
    return typeof value
  }
}

/** A number in full digits, never with an exponent: 1e-7 is 0.0000001. */
export function decimal(value: number): string {
  const text = String(value)
  const [, sign = '', whole = '', fraction = '', power = ''] =
    /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  if (whole === '') return text
  const digits = whole + fraction
  const point = whole.length + Number(power)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return sign + digits.padEnd(point, '0')
}

// Which RAO contract an answer is under. A contract may be stated by the node, by policies of the caller and by the
// capability that does the work. All that apply are merged: no statement can loosen another.

/** A contract that a policy or a capability brings to a node, worked out by the proof. */
export interface AppliedContract {
  /** `policy:<id>` or `capability:<id>`. */
  readonly from: string
  /** It applies to answers of this capability: the node's own or an alternate. */
  readonly capabilityId: string
  readonly contract: RaoContract
}

export interface EffectiveContract extends RaoContract {
  /** Where it comes from, in order of precedence: `node`, `policy:<id>`, `capability:<id>`. */
  readonly from: readonly string[]
}

interface ContractHolder {
  readonly data?: unknown
  /** Highest precedence first. */
  readonly rao?: readonly AppliedContract[]
}

/** The contract that answers of a capability are under at a node; `undefined` if absent. */
export function findRaoContract(
  node: ContractHolder,
  capabilityId: string,
): EffectiveContract | RaoError | undefined {
  const own = readRaoContract(node.data)
  if (isRaoError(own)) return own
  const applied = (node.rao ?? []).filter((each) => each.capabilityId === capabilityId)
  const all = [...(own ? [{ from: 'node', contract: own }] : []), ...applied]
  return all.length === 0 ? undefined : mergeContracts(all)
}

/**
 * Each threshold is the highest of all contracts, defaults included, so that the result is at least as strict as each of
 * them (and ordered, because each of them is); time is the shortest. Of the rest, the first that states it counts.
 */
function mergeContracts(
  all: readonly { readonly from: string; readonly contract: RaoContract }[],
): EffectiveContract {
  const contracts = all.map(({ contract }) => contract)
  const highest = (name: keyof Thresholds) => Math.max(...contracts.map(({ thresholds }) => thresholds[name]))
  const times = contracts.flatMap(({ maxInferenceMs }) => maxInferenceMs ?? [])
  const confidenceType = contracts.find((each) => each.confidenceType !== undefined)?.confidenceType
  return {
    contractVersion: contracts[0]?.contractVersion ?? '',
    thresholds: {
      autoApproveAbove: highest('autoApproveAbove'),
      reviewLow: highest('reviewLow'),
      reviewHigh: highest('reviewHigh'),
      suppressBelow: highest('suppressBelow'),
    },
    ...(confidenceType !== undefined && { confidenceType }),
    ...(times.length > 0 && { maxInferenceMs: Math.min(...times) }),
    from: all.map(({ from }) => from),
  }
}
