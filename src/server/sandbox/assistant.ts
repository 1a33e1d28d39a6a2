/** The assistant of the sandbox: what it is told, the form of its replies, and what becomes of them. */
import type { Issue } from '../../base/issue.ts'
import type { Json } from '../../base/json.ts'
import type { AttemptResult } from '../../domain/output.ts'
import { parseEnvelope } from '../../domain/parse-envelope.ts'
import type { Redactor } from '../../domain/redact.ts'
import { conditionIssues } from '../../engine/conditions.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { applyPatches, type Draft, type Patch, patchedMembers, patchLimits } from './apply-patches.ts'
import { conversationLimits, type Message } from './conversations.ts'

/** A value under contract from a model: the app's own. */
export type Generate = (request: {
  readonly objective: string
  readonly schema: JsonSchema
  readonly inputs: Json
  readonly instructions: string
  readonly name: string
  readonly calls: number
  readonly maxOutputTokens: number
  /** A person waits: a model that throttles is not tried again here. */
  readonly retry: { readonly max: number }
  readonly signal: AbortSignal
}) => Promise<AttemptResult>

const shortTexts = { type: 'array', maxItems: 20, items: { type: 'string', maxLength: 500 } } as const

export const assistantSchema = {
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

/** Throttled: nobody is to blame, and trying again helps. */
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
    // The redactor keeps the shape.
    inputs: redactor.value({ draft, conversation: messages, issues: issuesOf(draft) }) as Json,
    schema: assistantSchema,
    name: 'assistant',
    calls: conversationLimits.calls,
    maxOutputTokens: conversationLimits.tokens,
    retry: { max: 1 },
    signal,
  })
  if (result.outcome === 'throttled') return { throttled: true, retryAfterMs: result.retryAfterMs ?? 10_000 }
  if (result.outcome !== 'ok' || result.output === undefined)
    return unchanged(draft, 'The assistant gave no usable answer; the draft is as it was.', [
      `The call of the model ended with ${result.outcome}: ${result.issues[0]?.message ?? 'no reason given'}`,
    ])
  // The answer has passed the schema.
  const said = result.output.value as unknown as Omit<Turn, 'draft'>
  const patched = applyPatches(draft, said.patches)
  if (!patched.ok)
    return unchanged(draft, said.reply, [
      ...(said.warnings ?? []),
      `The changes could not be made, and the draft is as it was: ${patched.reason}`,
    ])
  return {
    ...said,
    draft: patched.draft,
    missingFields: union(said.missingFields ?? [], missingIn(patched.draft)),
    warnings: said.warnings ?? [],
  }
}

export function unchanged(draft: Draft, reply: string, warnings: readonly string[]): Turn {
  return { draft, reply, patches: [], missingFields: missingIn(draft), warnings }
}

/** What is wrong with the draft as an envelope. */
export function issuesOf(draft: Draft): readonly Issue[] {
  const parsed = parseEnvelope(draft, { checkCondition: conditionIssues })
  return parsed.ok ? [] : parsed.issues
}

function missingIn(draft: Draft): string[] {
  return ['objective', 'outputContract'].filter((name) => !Object.hasOwn(draft, name))
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])]
}
