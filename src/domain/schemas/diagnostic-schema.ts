/** The schema of what the prover says: one diagnostic, and the bundle of them. */
import { anyText, closed, map, text } from './parts.ts'

const levels = ['hard', 'soft', 'informational'] as const

export const diagnosticSchema = closed(
  {
    severity: { enum: levels },
    status: { enum: ['unsatisfied', 'satisfied', 'unknown'] },
    constraint: anyText,
    constraintId: text,
    nodeId: anyText,
    capabilityId: text,
    cause: {
      enum: ['missing_producer', 'missing_enforcer', 'schema_incompatible', 'unsatisfied_soft', 'advisory'],
    },
    suggestion: anyText,
    details: map,
  },
  ['severity', 'status', 'cause'],
)

const bucket = { type: 'array', items: diagnosticSchema } as const

export const diagnosticBundleSchema = closed(
  {
    status: { enum: ['rejected', 'accepted_with_findings', 'accepted'] },
    satisfactionScore: { type: 'number', minimum: 0, maximum: 1 },
    failures: bucket,
    warnings: bucket,
    infos: bucket,
  },
  ['status', 'satisfactionScore', 'failures', 'warnings', 'infos'],
)
