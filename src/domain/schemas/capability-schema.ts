/** The schema of a capability's registration. */
import { nodeKinds } from './draft-schema.ts'
import { anyText, closed, condition, countOrNone, flag, map, text, texts } from './parts.ts'
import { raoSettingsSchema } from './rao-schema.ts'

/** Facet names, or a schema by hand where no facet exists. */
const contractSide = { anyOf: [texts, { type: 'object' }] } as const

export const capabilitySchema = closed(
  {
    capabilityId: { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_.:/-]*$', maxLength: 200 },
    version: text,
    displayName: text,
    summary: anyText,
    kind: text,
    nodeKind: { enum: nodeKinds },
    inputContract: contractSide,
    outputContract: contractSide,
    idempotent: flag,
    sideEffect: flag,
    postConditions: { type: 'array', items: condition },
    rao: raoSettingsSchema,
    inputTraits: {
      type: 'object',
      properties: { languages: texts, formats: texts, strengths: texts, limitations: texts },
    },
    cost: closed({ tier: text, estimatedTokens: countOrNone }),
    preferredModels: texts,
    heartbeat: closed({
      intervalSeconds: { type: 'number', exclusiveMinimum: 0 },
      timeoutSeconds: { type: 'number', exclusiveMinimum: 0 },
    }),
    metadata: map,
    settings: map,
  },
  ['capabilityId', 'inputContract', 'outputContract'],
)
