/** The schema of `policies`: for planners, for the run, and the flat ones of older callers. */
import { nodeKinds } from './draft-schema.ts'
import { anyText, closed, condition, count, flag, map, tagged, text, texts } from './parts.ts'
import { raoSettingsSchema } from './rao-schema.ts'

/** Unknown kinds are rejected: such a selector would never match and is probably a typo. */
const kind = { enum: nodeKinds } as const
const kinds = { type: 'array', items: kind } as const

const selectorSchema = closed({ kind, capabilityId: text })

const watched = { properties: { selector: selectorSchema, condition } }

const triggerSchema = tagged('kind', {
  onStart: { properties: {} },
  onNodeComplete: watched,
  onValidationFail: watched,
  onTimeout: { properties: { ms: count }, required: ['ms'] },
  onMetricBelow: {
    properties: { metric: text, threshold: { type: 'number' } },
    required: ['metric', 'threshold'],
  },
  manual: { properties: {} },
})

export const grantSchema = { enum: ['run', 'thread'] } as const

export const rejectActionSchema = { enum: ['fail', 'retry', 'replan'] } as const

/** Where a schema keeps actions, which contain each other. */
const action = { $ref: '#/$defs/action' }
const rejection = { $ref: '#/$defs/rejection' }

const actionForms = {
  replan: { properties: { rationale: anyText } },
  hitl: { properties: { rationale: anyText, approveAction: action, rejectAction: rejection } },
  fail: { properties: { message: anyText } },
  pause: { properties: { reason: anyText } },
  emit: { properties: { event: text, payload: map }, required: ['event'] },
}

const actionSchema = tagged('type', actionForms)

/** What may follow a rejection: any action, or the work once more. */
const rejectionSchema = tagged('type', { ...actionForms, retry: { properties: {} } })

const raoSelectorSchema = closed({ nodeId: text, kind, capabilityId: text, facet: text })

/** What something in the run sets off, or with `rao` a contract of the nodes that its selector matches. */
const runtimePolicySchema = {
  type: 'object',
  if: { required: ['rao'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: closed({ id: text, enabled: flag, selector: raoSelectorSchema, rao: raoSettingsSchema }, ['id']),
  else: closed({ id: text, enabled: flag, trigger: triggerSchema, action, maxAttempts: count }, [
    'id',
    'trigger',
    'action',
  ]),
} as const

/** Older callers write these beside `planner` and `runtime`; `migrate-policies.ts` converts each. */
export const flatPolicySchemas = {
  brandVoice: { anyOf: [text, { ...texts, minItems: 1 }] },
  persona: text,
  variantCount: count,
  requiresHitlApproval: flag,
  hitlRequiredFor: texts,
  branchVariants: { anyOf: [count, { type: 'array', minItems: 1 }] },
} as const

/** Free, but the ones that mean something must be readable: a gate that is misspelt must not stay open. */
export const directivesSchema = {
  type: 'object',
  properties: {
    askBeforeFinish: flag,
    hitlRequiredFor: flatPolicySchemas.hitlRequiredFor,
    branchVariants: flatPolicySchemas.branchVariants,
    sideEffects: { enum: ['ask', 'allow'] },
  },
} as const

const plannerPolicySchema = closed({
  topology: closed({ variantCount: count, maxDepth: count, requiredKinds: kinds, forbiddenKinds: kinds }),
  selection: closed({ require: texts, forbid: texts, prefer: texts, avoid: texts }),
  optimisation: closed({
    objective: { enum: ['speed', 'quality', 'diversity', 'token_efficiency'] },
    maxTokens: count,
  }),
  directives: directivesSchema,
})

/** Without the definition of an action, for schemas that bring it themselves. */
export const policiesSchema = closed({
  planner: plannerPolicySchema,
  runtime: { type: 'array', items: runtimePolicySchema },
  onNodeFail: { enum: ['ask', 'fail'] },
  rejectAction: rejectActionSchema,
  approvers: { type: 'integer', minimum: 1, maximum: 5 },
  ...Object.fromEntries(
    Object.entries(flatPolicySchemas).map(([name, schema]) => [name, { ...schema, deprecated: true }]),
  ),
})

export const policyDefs = { action: actionSchema, rejection: rejectionSchema } as const

export const policySchema = { ...policiesSchema, $defs: policyDefs } as const
