/** The JSON Schema of every noun that comes from outside: what the parsers check with, published for editors and forms. */
export { capabilitySchema } from './schemas/capability-schema.ts'
export { diagnosticBundleSchema, diagnosticSchema } from './schemas/diagnostic-schema.ts'
export { draftSchema } from './schemas/draft-schema.ts'
export { contractSchema, envelopeSchema } from './schemas/envelope-schema.ts'
export { facetSchema } from './schemas/facet-schema.ts'
export { planSchema } from './schemas/plan-schema.ts'
export { policySchema } from './schemas/policy-schema.ts'
export { replySchema } from './schemas/reply-schema.ts'
