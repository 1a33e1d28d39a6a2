/** A capability that is a program, for `proviso run examples/tea.json --use examples/tea-capabilities.mjs`. */
import { defineCapability } from 'proviso'

const minutes = { Assam: 5, Sencha: 2, Peppermint: 8 }

export const steep = defineCapability({
  capabilityId: 'tea.steep',
  inputContract: { type: 'object', properties: { tea: { type: 'string' } }, required: ['tea'] },
  outputContract: {
    type: 'object',
    properties: { minutes: { type: 'integer', minimum: 1 } },
    required: ['minutes'],
  },
  idempotent: true,
  run: ({ tea }) => ({ minutes: minutes[tea] ?? 3 }),
})
