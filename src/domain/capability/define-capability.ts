/** Defines a capability in code: its data together with its function. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Location } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Capability } from '../capability.ts'
import type { Feedback } from '../feedback.ts'
import type { Bundle } from '../ports/dispatcher.ts'
import { parseCapability } from './parse-capability.ts'

export interface LocalContext extends Omit<Bundle, 'inputs' | 'feedback'> {
  /** What people and checks said about earlier outputs of the node, oldest first; empty for the first attempt. */
  readonly feedback: readonly Feedback[]
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
  /** The same for every retry of this call: pass it to operations that must not happen twice. */
  readonly idempotencyKey: string
  readonly signal: AbortSignal
  /**
   * Ends the call: the inputs can never succeed, so it is not retried. An alternate capability has its turn, or the node
   * fails with this message and hint.
   *
   * @example
   * if (amount < 0) return context.reject('The amount is negative', { hint: 'Pass a positive amount' })
   */
  reject(message: string, details?: { readonly hint?: string; readonly at?: Location }): never
  /**
   * Ends the call with a question to a person; the function is called again with the answer in `clarifications`. Nothing
   * may have been done before.
   *
   * @example
   * if (context.clarifications.length === 0) return context.ask('Which region?', { schema: { enum: ['EU', 'US'] } })
   */
  ask(question: string, details?: { readonly schema?: JsonSchema }): never
}

/**
 * The function of a capability of kind `local`. Call `context.reject` for inputs that can never succeed, and `context.ask`
 * to ask a person first. Any other exception counts as `provider_error` and may be retried.
 */
export type LocalFunction = (inputs: Json, context: LocalContext) => Json | Promise<Json>

/** The fields of a capability, plus its function. Everything but the id and the two contracts has a default. */
export interface CapabilityDefinition
  extends Partial<Omit<Capability, 'capabilityId' | 'inputContract' | 'outputContract'>>,
    Pick<Capability, 'capabilityId' | 'inputContract' | 'outputContract'> {
  /** For kind `local` (the default): the function to call. */
  readonly run?: LocalFunction
}

export interface DefinedCapability {
  readonly capability: Capability
  readonly run?: LocalFunction
}

/**
 * Checks a definition and fills its defaults; throws `option/invalid` with every issue.
 *
 * @example
 * const greet = defineCapability({
 *   capabilityId: 'greet',
 *   inputContract: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
 *   outputContract: { type: 'object', properties: { greeting: { type: 'string' } }, required: ['greeting'] },
 *   run: (inputs) => ({ greeting: `Hello, ${(inputs as { name: string }).name}` }),
 * })
 */
export function defineCapability(definition: CapabilityDefinition): DefinedCapability {
  const { run, ...data } = definition
  const parsed = parseCapability(data)
  if (!parsed.ok)
    throw new ProvisoError(
      'option/invalid',
      `Cannot use the capability${formatId(definition)}: ${parsed.issues[0]?.message ?? ''}`,
      { issues: parsed.issues },
    )
  if (parsed.value.kind === 'local' && !run)
    throw new ProvisoError(
      'option/invalid',
      `Cannot use the capability "${definition.capabilityId}": it has no function`,
      {
        hint: 'Add `run`, or set another `kind`',
      },
    )
  return { capability: parsed.value, ...(run && { run }) }
}

/** Formats the id; it may be the missing field. */
const formatId = ({ capabilityId }: CapabilityDefinition): string =>
  typeof capabilityId === 'string' ? ` "${capabilityId}"` : ''

/** Defines a built-in capability that is only validated on first use, so that loading the package stays fast. */
export function defineLater(
  definition: CapabilityDefinition & { readonly run: LocalFunction },
): DefinedCapability {
  let capability: Capability | undefined
  return {
    get capability() {
      capability ??= defineCapability(definition).capability
      return capability
    },
    run: definition.run,
  }
}
