/** The JSON Schema of every noun that comes from outside: what the parsers check with, published for editors and forms. */
export { capabilitySchema } from './capability-schema.ts'
export { diagnosticBundleSchema, diagnosticSchema } from './diagnostic-schema.ts'
export { draftSchema } from './draft-schema.ts'
export { contractSchema, envelopeSchema } from './envelope-schema.ts'
export { facetSchema } from './facet-schema.ts'
export { planSchema } from './plan-schema.ts'
export { policySchema } from './policy-schema.ts'
export { replySchema } from './reply-schema.ts'
