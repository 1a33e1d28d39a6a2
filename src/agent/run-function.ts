/** Calls the function of an agent and turns everything it may do (return, stream, reject, ask, throw) into an answer. */
import { ProvisoError, toErrorMessage } from '../base/errors/error.ts'
import type { Json } from '../base/json.ts'
import type { DefinedCapability, LocalContext } from '../domain/capability/define-capability.ts'
import { ask, reject, toQuestion } from '../domain/capability/end-call.ts'
import { type StandardSchemaV1, validateStandard } from '../schema/standard.ts'
import type { CallAnswer, CallBody } from './call.ts'

/** What the function receives beside its inputs. */
export interface AgentContext extends LocalContext {
  /** The call is under a RAO contract: return its envelope (`RaoAnswer`). */
  readonly rao: boolean
}

/** Untyped form of the function of an agent. */
export type AgentFunction = (inputs: Json, context: AgentContext) => unknown

export interface FunctionCall {
  readonly body: CallBody
  readonly idempotencyKey: string
  readonly signal: AbortSignal
  /** Called with every chunk of text, if the function streams. */
  readonly onChunk: (chunk: string) => void
}

/** Never throws. */
export async function runFunction(
  run: AgentFunction,
  validators: DefinedCapability['validators'],
  { body, idempotencyKey, signal, onChunk }: FunctionCall,
): Promise<CallAnswer> {
  const { inputs, feedback = [], rao = false, callbackUrl: _url, capabilityId: _id, ...rest } = body
  try {
    const checked = convertInputs(validators?.input, inputs)
    const context = { ...rest, feedback, rao, idempotencyKey, signal, reject, ask }
    const result = await run(checked, context)
    if (isTextStream(result)) return { text: await collectText(result, onChunk) }
    if (!rao) assertOutput(validators?.output, result)
    // A copy: the function may keep its object and change it.
    return { output: JSON.parse(JSON.stringify(result ?? null)) }
  } catch (cause) {
    return toFailure(cause)
  }
}

function toFailure(cause: unknown): CallAnswer {
  if (ProvisoError.is(cause) && cause.code === 'capability/refused')
    return { error: { message: cause.message, outcome: 'refused', notApplied: true } }
  if (ProvisoError.is(cause) && cause.code === 'capability/unclear') {
    const { text, schema } = toQuestion(cause)
    return { question: text, ...(schema !== undefined && { schema }) }
  }
  return { error: { message: toErrorMessage(cause), outcome: 'provider_error' } }
}

/** Inputs that the validator refuses never succeed. */
function convertInputs(validator: StandardSchemaV1 | undefined, inputs: Json): Json {
  if (validator === undefined) return inputs
  const checked = validateStandard(validator, inputs)
  if ('value' in checked) return checked.value as Json
  return reject(`The inputs are invalid: ${checked.issues[0]?.message ?? ''}`)
}

/** Checks rules that JSON Schema cannot express; Proviso checks the rest against the contract of the node. */
function assertOutput(validator: StandardSchemaV1 | undefined, output: unknown): void {
  const checked = validator && validateStandard(validator, output)
  if (checked && 'issues' in checked)
    throw new Error(`The output is invalid: ${checked.issues[0]?.message ?? ''}`)
}

function isTextStream(result: unknown): result is AsyncIterable<string> {
  return typeof result === 'object' && result !== null && Symbol.asyncIterator in result
}

async function collectText(chunks: AsyncIterable<string>, onChunk: (chunk: string) => void): Promise<string> {
  let text = ''
  for await (const chunk of chunks) {
    text += chunk
    onChunk(chunk)
  }
  return text
}
