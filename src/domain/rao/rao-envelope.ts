/**
 * What a model must answer under a RAO contract. Closed and strict: the text may have been repaired before, but nothing
 * here is converted, so no answer can talk its way past a person. Called by the engine before it routes.
 */
import { isObject, own } from '../../base/json.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import {
  type ConfidenceType,
  confidenceTypes,
  cut,
  decimal,
  isConfidenceType,
  type RaoContract,
  type RaoError,
  schemaViolation,
  shown,
} from './rao-contract.ts'

interface RaoEnvelope {
  readonly primaryOutput: string
  readonly confidence: number
  readonly confidenceType: ConfidenceType
  readonly escalate: boolean
  readonly reasoning?: string
}

/** For the provider's structured output and for the instruction; it accepts exactly what `readRaoEnvelope` accepts. */
export const raoEnvelopeSchema = {
  type: 'object',
  properties: {
    primary_output: { type: 'string' },
    confidence: { type: 'number', minimum: 0, maximum: 1 },
    confidence_type: { type: 'string', enum: confidenceTypes },
    escalate: { type: 'boolean' },
    reasoning: { type: ['string', 'null'] },
  },
  required: ['primary_output', 'confidence', 'confidence_type', 'escalate'],
  additionalProperties: false,
} as const satisfies JsonSchema

/** Reads a model's answer; the contract matters only when it names a confidence type. */
export function readRaoEnvelope(
  value: unknown,
  contract: Pick<RaoContract, 'confidenceType'> = {},
): RaoEnvelope | RaoError {
  if (!isObject(value)) return schemaViolation('output is not a JSON object')
  const primaryOutput = own(value, 'primary_output')
  if (typeof primaryOutput !== 'string') return schemaViolation('missing string field `primary_output`')
  const confidence = own(value, 'confidence')
  if (typeof confidence !== 'number') return schemaViolation('missing numeric field `confidence`')
  if (!(confidence >= 0 && confidence <= 1)) {
    return schemaViolation(`confidence ${decimal(confidence)} is outside [0.0, 1.0]`)
  }
  const confidenceType = own(value, 'confidence_type')
  if (typeof confidenceType !== 'string') return schemaViolation('missing string field `confidence_type`')
  if (!isConfidenceType(confidenceType)) {
    return schemaViolation(`unknown confidence_type \`${cut(confidenceType)}\``)
  }
  const escalate = own(value, 'escalate')
  if (typeof escalate !== 'boolean') return schemaViolation('missing boolean field `escalate`')
  const reasoning = own(value, 'reasoning') ?? undefined
  if (reasoning !== undefined && typeof reasoning !== 'string') {
    return schemaViolation(`\`reasoning\` must be a string when present, got ${shown(reasoning)}`)
  }
  const extra = Object.keys(value).find((key) => !Object.hasOwn(raoEnvelopeSchema.properties, key))
  if (extra !== undefined) return schemaViolation(`unknown field \`${cut(extra)}\``)
  if (contract.confidenceType !== undefined && contract.confidenceType !== confidenceType) {
    return schemaViolation(
      `confidence_type is \`${confidenceType}\`, but the contract asks for \`${contract.confidenceType}\``,
    )
  }
  return {
    primaryOutput,
    confidence,
    confidenceType,
    escalate,
    ...(reasoning !== undefined && { reasoning }),
  }
}
