/** The schemas of a RAO contract on a capability or in a policy, and of what it came to on an ask. */
import { closed, count, flag, text } from './parts.ts'

const unit = { type: 'number', minimum: 0, maximum: 1 } as const
const confidenceType = { enum: ['verbalized', 'token_level', 'calibrated'] } as const
const thresholds = { autoApproveAbove: unit, reviewLow: unit, reviewHigh: unit, suppressBelow: unit } as const
const names = ['autoApproveAbove', 'reviewLow', 'reviewHigh', 'suppressBelow'] as const

export const raoSettingsSchema = closed({
  contract: flag,
  ...thresholds,
  confidenceType,
  maxInferenceMs: count,
  contractVersion: text,
})

/** A contract in a plan: complete. */
export const raoContractSchema = closed(
  {
    contractVersion: text,
    thresholds: closed(thresholds, names),
    confidenceType,
    maxInferenceMs: count,
  },
  ['contractVersion', 'thresholds'],
)

export const raoDecisionSchema = {
  type: 'object',
  required: ['thresholds', 'confidence', 'type', 'escalate', 'decision'],
  properties: {
    thresholds: closed(thresholds, names),
    confidence: { type: ['number', 'null'] },
    type: { type: ['string', 'null'] },
    escalate: flag,
    decision: { enum: ['auto_approve', 'human_review', 'suppress'] },
    reasoning: { type: 'string' },
  },
} as const
