/** The assistant of the sandbox: its prompt, the schema of its replies, and how they change the draft. */
import type { Issue } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import { parseEnvelope } from '../../domain/envelope/parse-envelope.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { conditionIssues } from '../../engine/decide/checks/conditions.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { applyPatches, type Draft, type Patch, patchedMembers, patchLimits } from './apply-patches.ts'
import { conversationLimits, type Message } from './conversations.ts'

/** Generates a value under contract with a model; provided by the app. */
export type Generate = (request: {
  readonly objective: string
  readonly schema: JsonSchema
  readonly inputs: Json
  readonly instructions: string
  readonly name: string
  readonly calls: number
  readonly maxOutputTokens: number
  /** A person waits for the answer: throttled calls are not retried here. */
  readonly retry: { readonly max: number }
  readonly signal: AbortSignal
}) => Promise<AttemptResult>

const shortTexts = { type: 'array', maxItems: 20, items: { type: 'string', maxLength: 500 } } as const

const assistantSchema = {
  type: 'object',
  required: ['reply', 'patches'],
  properties: {
    reply: { type: 'string', minLength: 1, maxLength: 4_000 },
    patches: {
      type: 'array',
      maxItems: patchLimits.patches,
      items: {
        type: 'object',
        required: ['op', 'path'],
        properties: {
          op: { enum: ['add', 'remove', 'replace'] },
          path: {
            type: 'string',
            maxLength: patchLimits.pathLength,
            pattern: `^/(${patchedMembers.join('|')})(/|$)`,
          },
          value: {},
        },
      },
    },
    summary: { type: 'string', maxLength: 2_000 },
    missingFields: shortTexts,
    warnings: shortTexts,
  },
} as const satisfies JsonSchema

const instructions = [
  'You help an operator to write a TaskEnvelope: objective, inputs, policies, specialInstructions, and outputContract with a JSON Schema.',
  'Change the draft only by JSON Patch operations add, remove and replace, each with a path that begins with /; add a parent before what is in it.',
  'An empty list of patches leaves the draft as it is. Ask one question at a time, and name in missingFields what is still needed.',
].join(' ')

export interface Turn {
  readonly draft: Draft
  readonly reply: string
  readonly patches: readonly Patch[]
  readonly summary?: string
  readonly missingFields: readonly string[]
  readonly warnings: readonly string[]
}

/** `throttled`: the model provider limits requests; retry later. */
export type Asked = Turn | { readonly throttled: true; readonly retryAfterMs: number }

export async function askAssistant(given: {
  readonly generate: Generate
  readonly draft: Draft
  readonly messages: readonly Message[]
  readonly redactor: Redactor
  readonly signal: AbortSignal
}): Promise<Asked> {
  const { generate, draft, messages, redactor, signal } = given
  const result = await generate({
    objective: 'Answer the operator, and bring the draft nearer to what is wanted',
    instructions,
    // The redactor preserves the shape.
    inputs: redactor.value({ draft, conversation: messages, issues: findIssues(draft) }) as Json,
    schema: assistantSchema,
    name: 'assistant',
    calls: conversationLimits.calls,
    maxOutputTokens: conversationLimits.tokens,
    retry: { max: 1 },
    signal,
  })
  if (result.outcome === 'throttled') return { throttled: true, retryAfterMs: result.retryAfterMs ?? 10_000 }
  if (result.outcome !== 'ok' || result.output === undefined)
    return unchanged(draft, 'The assistant returned no usable answer; the draft is unchanged.', [
      `The model call ended with ${result.outcome}: ${result.issues[0]?.message ?? 'no reason given'}`,
    ])
  // The answer is valid against the schema.
  const said = result.output.value as unknown as Omit<Turn, 'draft'>
  const patched = applyPatches(draft, said.patches)
  if (!patched.ok)
    return unchanged(draft, said.reply, [
      ...(said.warnings ?? []),
      `Cannot apply the changes, the draft is unchanged: ${patched.reason}`,
    ])
  return {
    ...said,
    draft: patched.draft,
    missingFields: union(said.missingFields ?? [], findMissing(patched.draft)),
    warnings: said.warnings ?? [],
  }
}

export function unchanged(draft: Draft, reply: string, warnings: readonly string[]): Turn {
  return { draft, reply, patches: [], missingFields: findMissing(draft), warnings }
}

/** Returns the issues of the draft when it is parsed as an envelope. */
export function findIssues(draft: Draft): readonly Issue[] {
  const parsed = parseEnvelope(draft, { checkCondition: conditionIssues })
  return parsed.ok ? [] : parsed.issues
}

function findMissing(draft: Draft): string[] {
  return ['objective', 'outputContract'].filter((name) => !Object.hasOwn(draft, name))
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])]
}
