/** The schema of a reply on the wire; who replied comes from the authorisation, never from the body. */
import { anyText, closed, text } from './parts.ts'
import { grantSchema, rejectActionSchema } from './policy-schema.ts'

export const replySchema = closed(
  {
    requestId: text,
    decision: { enum: ['approve', 'edit', 'reject', 'answer'] },
    value: true,
    valueHash: text,
    rejectAction: rejectActionSchema,
    grant: grantSchema,
    note: anyText,
  },
  ['requestId', 'decision', 'valueHash'],
)
