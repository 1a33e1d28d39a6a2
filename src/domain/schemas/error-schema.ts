/** The schema of the one shape of errors (`error-envelope.ts`), wherever an answer or a frame holds one. */
import type { Json } from '../../base/json.ts'
import { errorTypes } from '../error-envelope.ts'

export const errorSchema = {
  type: 'object',
  required: ['type', 'reason', 'message', 'details', 'path'],
  properties: {
    type: { enum: Object.keys(errorTypes) },
    reason: { type: 'string' },
    message: { type: 'string' },
    details: { type: 'object' },
    path: { type: 'string' },
  },
  additionalProperties: false,
} satisfies Json
