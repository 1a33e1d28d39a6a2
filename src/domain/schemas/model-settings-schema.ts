/** The schema of the settings of model calls. */
import { closed, count, map, text } from './parts.ts'

export const reasoningEfforts = ['none', 'minimal', 'low', 'medium', 'high'] as const

export const modelSettingsSchema = closed({
  temperature: { type: 'number', minimum: 0, maximum: 2 },
  topP: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
  maxOutputTokens: count,
  seed: { type: 'integer', minimum: 0, maximum: 2_147_483_647 },
  stop: { type: 'array', items: text, minItems: 1, maxItems: 16 },
  reasoningEffort: { enum: reasoningEfforts },
  providerOptions: { type: 'object', additionalProperties: map },
})
