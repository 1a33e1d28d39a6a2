/** The schema of a capability's registration. */
import { taskPriorities } from '../task/assignment.ts'
import { nodeKinds } from './draft-schema.ts'
import { anyText, closed, condition, countOrNone, flag, map, text, texts } from './parts.ts'
import { raoSettingsSchema } from './rao-schema.ts'

const personName = { type: 'string', minLength: 1, maxLength: 200, pattern: '\\S' } as const

/** Whom a capability of kind `human` assigns its tasks to. */
const humanSchema = closed({
  assignee: {
    anyOf: [personName, { type: 'array', items: personName, minItems: 1, maxItems: 50, uniqueItems: true }],
  },
  role: personName,
  priority: { enum: taskPriorities },
  dueSeconds: { type: 'number', exclusiveMinimum: 0, maximum: 10 * 365 * 86_400 },
})

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
    human: humanSchema,
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
