/** Defines a capability in code: its data together with its function, typed by its schemas. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Location } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import type { Infer } from '../../output/index.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import {
  isForeignSchema,
  type StandardSchemaV1,
  standardJsonSchema,
  whatToInstall,
} from '../../schema/standard.ts'
import type { Capability, ContractSide } from '../capability.ts'
import type { Feedback } from '../feedback.ts'
import type { ParseIssue } from '../parse/issue-table.ts'
import { relaxSchema } from '../parse/parsed.ts'
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
   * Ends the call with a question to a person; the function is called again with the answer in `clarifications`: a value
   * of the schema, or a text without one. Nothing may have been done before.
   *
   * @example
   * if (context.clarifications.length === 0) return context.ask('Which region?', { schema: { enum: ['EU', 'US'] } })
   */
  ask(question: string, details?: { readonly schema?: JsonSchema }): never
}

/** Untyped form of the function of a capability of kind `local`, as the engine calls it. */
export type LocalFunction = (inputs: Json, context: LocalContext) => Json | Promise<Json>

/** Describes what a capability takes or returns: a schema of Zod, Valibot, ArkType and others, a JSON Schema, or facet names. */
export type CapabilitySchema = StandardSchemaV1 | ContractSide

/** What the function of a capability receives: the output of a Standard Schema, or the values of a JSON Schema. */
export type InputValue<S> = S extends readonly string[] ? { readonly [facet: string]: Json } : Infer<S>

/** What the function of a capability returns: the input of a Standard Schema, or a value of a JSON Schema. It is stored as it is. */
export type ReturnValue<S> = S extends readonly string[]
  ? { readonly [facet: string]: unknown }
  : S extends StandardSchemaV1
    ? StandardSchemaV1.InferInput<S>
    : Infer<S>

/** The function of a capability may be asynchronous. */
type Returned<T> = T | Promise<T>

/**
 * What a function may return: `T`, or its own type `R` where that fits `T`, so that the literals and tuples in it keep their
 * types without `as const`.
 */
export type FittingReturn<R, T> =
  | Returned<T>
  | ([Awaited<R>] extends [T] ? R : [Writable<Awaited<R>>] extends [T] ? R : never)

/** Constant expressions have read-only types, and those of schemas are writable. Lists that are no tuples may be recursive. */
type Writable<T> = T extends (...inputs: never) => unknown
  ? T
  : T extends readonly [unknown, ...unknown[]]
    ? WritableMembers<T>
    : T extends readonly (infer Item)[]
      ? Writable<Item>[]
      : T extends object
        ? WritableMembers<T>
        : T

type WritableMembers<T> = { -readonly [K in keyof T]: Writable<T[K]> }

interface CapabilityFields<I, R>
  extends Partial<Omit<Capability, 'capabilityId' | 'inputContract' | 'outputContract'>> {
  /**
   * For kind `local` (the default): the function to call. Call `context.reject` for inputs that can never succeed, and
   * `context.ask` to ask a person first. Any other exception counts as `provider_error` and may be retried.
   */
  run?(inputs: InputValue<I>, context: LocalContext): R
}

interface ShortNames<I, O> {
  readonly id: string
  readonly input: I
  readonly output: O
  readonly capabilityId?: never
  readonly inputContract?: never
  readonly outputContract?: never
}

/** The names of the wire format. */
interface WireNames<I, O> {
  readonly capabilityId: string
  readonly inputContract: I
  readonly outputContract: O
  readonly id?: never
  readonly input?: never
  readonly output?: never
}

/** The fields of a capability, plus its function. Everything but the id and the two schemas has a default. */
export type CapabilityDefinition<
  I extends CapabilitySchema = CapabilitySchema,
  O extends CapabilitySchema = CapabilitySchema,
  R = Returned<ReturnValue<O>>,
> = CapabilityFields<I, R> & (ShortNames<I, O> | WireNames<I, O>)

/** The fields of a tool that is defined in place: its result may be any JSON value. */
export type ToolDefinition<
  I extends CapabilitySchema = CapabilitySchema,
  O extends CapabilitySchema = CapabilitySchema,
  R = Returned<ReturnValue<O>>,
> = CapabilityFields<I, R> & ((Omit<ShortNames<I, O>, 'output'> & { readonly output?: O }) | WireNames<I, O>)

/** Validators of other libraries: they convert inputs, and check what JSON Schema cannot express. */
interface Validators {
  readonly input?: StandardSchemaV1
  readonly output?: StandardSchemaV1
}

export interface DefinedCapability {
  readonly capability: Capability
  readonly run?: LocalFunction
  readonly validators?: Validators
  /** Of an agent: its tools that are defined in code. An app has them, and plans use them only if they are listed there, too. */
  readonly tools?: readonly DefinedCapability[]
}

/**
 * Checks a definition and fills its defaults; throws `option/invalid` with every issue. The function's parameter and return
 * value have the types of the schemas.
 *
 * @example
 * const greet = defineCapability({
 *   id: 'greet',
 *   input: z.object({ name: z.string() }),
 *   output: z.object({ greeting: z.string() }),
 *   run: ({ name }) => ({ greeting: `Hello, ${name}` }),
 * })
 */
export function defineCapability<
  const I extends CapabilitySchema,
  const O extends CapabilitySchema,
  const R = Returned<ReturnValue<O>>,
>(definition: CapabilityDefinition<I, O, FittingReturn<R, ReturnValue<NoInfer<O>>>>): DefinedCapability {
  const { run, ...given } = definition as CapabilityDefinition
  const hasShortNames = Object.keys(shortNames).some((name) => Object.hasOwn(given, name))
  const { data, validators } = separateValidators(hasShortNames ? toWireNames(given) : given)
  const parsed = parseCapability(data)
  if (!parsed.ok) {
    const issues = hasShortNames ? parsed.issues.map(withShortNames) : parsed.issues
    const message = `Cannot use the capability${formatId(data)}: ${issues[0]?.message ?? ''}`
    throw new ProvisoError('option/invalid', message, { issues })
  }
  const { capabilityId, kind } = parsed.value
  if (kind === 'local' && !run)
    throw new ProvisoError(
      'option/invalid',
      `Cannot use the capability "${capabilityId}": it has no function`,
      {
        hint: 'Add `run`, or set another `kind`',
      },
    )
  return {
    capability: parsed.value,
    // The validators, or the engine with the JSON Schemas, check what the types say.
    ...(run && { run: run as LocalFunction }),
    ...(validators && { validators }),
  }
}

type Given = { readonly [name: string]: unknown }

const shortNames = { id: 'capabilityId', input: 'inputContract', output: 'outputContract' } as const

/** Replaces short names by those of the wire; both in one object are an error. */
function toWireNames(given: Given): Given {
  const { id, input, output, ...rest } = given
  for (const [short, wire] of Object.entries(shortNames)) {
    if (rest[wire] === undefined) continue
    const used = given[short] === undefined ? Object.keys(shortNames).find((name) => name in given) : short
    throw new ProvisoError(
      'option/invalid',
      `Cannot use the capability: it has both \`${used}\` and \`${wire}\``,
      {
        hint: 'Use either `id`, `input`, `output` or `capabilityId`, `inputContract`, `outputContract`',
      },
    )
  }
  return {
    ...rest,
    ...(id !== undefined && { capabilityId: id }),
    ...(input !== undefined && { inputContract: input }),
    ...(output !== undefined && { outputContract: output }),
  }
}

/** Speaks of the fields by the names that the definition has. */
function withShortNames(issue: ParseIssue): ParseIssue {
  let { message, at } = issue
  for (const [short, wire] of Object.entries(shortNames)) {
    message = message.replace(`"${wire}"`, `"${short}"`)
    if ('pointer' in at)
      at = { ...at, pointer: at.pointer.replace(new RegExp(`^/${wire}(?=/|$)`), `/${short}`) }
  }
  return { ...issue, message, at }
}

/** Replaces schemas of other libraries by their JSON Schemas, and returns them apart. */
function separateValidators(given: Given): { readonly data: Given; readonly validators?: Validators } {
  const { inputContract, outputContract } = given
  const input = isForeignSchema(inputContract) ? inputContract : undefined
  const output = isForeignSchema(outputContract) ? outputContract : undefined
  if (!input && !output) return { data: given }
  return {
    data: {
      ...given,
      ...(input && { inputContract: toJsonSchema(input, given, 'input') }),
      ...(output && { outputContract: toJsonSchema(output, given, 'output') }),
    },
    validators: { ...(input && { input }), ...(output && { output }) },
  }
}

/** Plans are proven with JSON Schemas, so every schema needs one. */
function toJsonSchema(schema: StandardSchemaV1, given: Given, side: 'input' | 'output'): JsonSchema {
  const converted = standardJsonSchema(schema)
  if (converted !== undefined) return relaxSchema(converted)
  const { vendor } = schema['~standard']
  throw new ProvisoError(
    'option/invalid',
    `Cannot use the capability${formatId(given)}: the ${side} schema of ${vendor} has no JSON Schema`,
    { hint: `Pass a JSON Schema, or ${whatToInstall}` },
  )
}

/** Formats the id; it may be the missing field. */
const formatId = ({ capabilityId }: Given): string =>
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
