/** The schema of a frame (`src/domain/frame.ts`), for the description of streams and pages of events. */
import type { Json } from '../base/json.ts'
import { eventTable } from '../domain/event-table.ts'
import { errorSchema } from '../domain/schemas/error-schema.ts'

export const frameSchema = {
  type: 'object',
  required: ['type', 'id', 'timestamp', 'payload', 'runId', 'planVersion', 'correlationId'],
  properties: {
    type: { enum: Object.keys(eventTable) },
    id: { type: 'integer', minimum: 1 },
    timestamp: { type: 'string', format: 'date-time' },
    payload: {
      type: 'object',
      properties: {
        /** Of `plan_rejected`, `node_error` and a `complete` without an answer. */
        error: errorSchema,
        /** Of `validation_error`. */
        errors: { type: 'array', items: errorSchema },
      },
    },
    message: { type: 'string' },
    runId: { type: 'string' },
    nodeId: { type: 'string' },
    planVersion: { type: 'integer', minimum: 0 },
    correlationId: { type: 'string' },
    facetProvenance: { type: 'object' },
  },
} satisfies Json
