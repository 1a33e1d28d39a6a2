/** JSON Schema of a frame (`src/domain/event/frame.ts`), for the documentation of event streams and pages. */
import type { Json } from '../../base/json.ts'
import { errorSchema } from '../../domain/errors/error-envelope.ts'
import { eventTable } from '../../domain/event/event-table.ts'

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
        /** In `plan_rejected`, `node_error` and a `complete` without an output. */
        error: errorSchema,
        /** In `validation_error`. */
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

export const partialFrameSchema = {
  type: 'object',
  required: ['type', 'payload', 'runId', 'nodeId', 'correlationId'],
  properties: {
    type: { const: 'partial' },
    payload: {
      type: 'object',
      required: ['attempt', 'value'],
      properties: {
        attempt: { type: 'integer', minimum: 1 },
        /** Null before an agent writes its answer. */
        value: {},
        /** Of an agent: what its model has written of the turn. */
        turn: {
          type: 'object',
          required: ['turn', 'text', 'calls'],
          properties: {
            turn: { type: 'integer', minimum: 1 },
            text: { type: 'string' },
            calls: {
              type: 'array',
              items: {
                type: 'object',
                required: ['tool'],
                properties: { tool: { type: 'string' }, arguments: {} },
              },
            },
          },
        },
      },
    },
    runId: { type: 'string' },
    nodeId: { type: 'string' },
    correlationId: { type: 'string' },
  },
} satisfies Json
