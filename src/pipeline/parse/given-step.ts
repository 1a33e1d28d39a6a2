/** A raw step of the file, and the settings common to all kinds of steps. */
import type { Json } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'

/**
 * Keys of a contract of Reasoning-Augmented Orchestration (RAO), from the spelling in files to the spelling
 * in the journal.
 */
export const raoKeys = {
  contract: 'contract',
  contract_version: 'contractVersion',
  auto_approve_above: 'autoApproveAbove',
  review_low: 'reviewLow',
  review_high: 'reviewHigh',
  suppress_below: 'suppressBelow',
  confidence_type: 'confidenceType',
  max_inference_ms: 'maxInferenceMs',
} as const

export type Data = { readonly [key: string]: Json }

export interface Given {
  readonly data: Data
  readonly at: Pointer
  readonly name: string
}

export function common({ data, at, name }: Given) {
  const sink = data['sink_to']
  return {
    name,
    at,
    ...(data['input'] !== undefined && { input: data['input'] }),
    updatesContext: data['updates_context'] === true,
    ...(typeof data['mergeable_output'] === 'boolean' && { mergeableOutput: data['mergeable_output'] }),
    ...(typeof sink === 'string' && { sinkTo: sink.replace(/^context\./, '') }),
  }
}
