/** What `start` and `run` take, typed by the schema of the answer, and its translation to the wire format. */
import { closest } from '../../base/closest.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, type Json } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import type { Infer } from '../../output/index.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import {
  isForeignSchema,
  type StandardSchemaV1,
  standardJsonSchema,
  whatToInstall,
} from '../../schema/standard.ts'
import type { Condition, Constraint } from '../contract.ts'
import { relaxSchema } from '../parse/parsed.ts'
import type { Draft, DraftNode, Limits, Source } from '../plan.ts'
import type { PlannerPolicy, Policies, RaoPolicy, RuntimePolicy } from '../policy.ts'
import type { ModelSettings } from '../settings/model-settings.ts'

/** Describes the answer of a run: a schema of Zod, Valibot, ArkType and others, or a JSON Schema. */
export type OutputSchema = StandardSchemaV1 | JsonSchema

/** The answer's type: what its schema says, or `Json` where the schema is not known to the compiler. */
export type OutputValue<S> = OutputSchema extends S ? Json : unknown extends Infer<S> ? Json : Infer<S>

/** Policies of a caller. Everything has a default. */
export interface PoliciesInput extends Partial<Omit<Policies, 'planner' | 'runtime'>> {
  /** What plans may look like: topology, selection of capabilities, optimisation, directives. */
  readonly planner?: PlannerPolicy
  /** Reactions to events of the run, in order, and RAO contracts. */
  readonly runtime?:
    | readonly RuntimePolicyInput[]
    | { readonly rao?: unknown; readonly policies?: readonly RuntimePolicyInput[] }
  /** @deprecated Pass the input `toneOfVoice`. */
  readonly brandVoice?: string | readonly string[]
  /** @deprecated Pass the input `audienceProfile.persona`. */
  readonly persona?: string
  /** @deprecated Set `planner.topology.variantCount`. */
  readonly variantCount?: number
  /** @deprecated Set `approve: 'final'`, or `planner.directives.askBeforeFinish` on the wire. */
  readonly requiresHitlApproval?: boolean
  /** @deprecated Set `planner.directives.hitlRequiredFor`. */
  readonly hitlRequiredFor?: readonly string[]
  /** @deprecated Set `planner.directives.branchVariants`. */
  readonly branchVariants?: number | readonly unknown[]
}

/** A policy of the run; `enabled` is true unless it says otherwise. */
type RuntimePolicyInput =
  | (Omit<RuntimePolicy, 'enabled'> & { readonly enabled?: boolean })
  | (Omit<RaoPolicy, 'enabled'> & { readonly enabled?: boolean })

/** A condition on the answer that its schema cannot express. Without a level it is `hard`. */
type ConstraintInput = Pick<Constraint, 'expr'> & Partial<Constraint>

/** A source, whose value may have any type that is JSON at run time; `Json` would refuse values typed by an interface. */
type SourceInput = Exclude<Source, { readonly value: Json }> | { readonly value: unknown }

type BindingInput = SourceInput | readonly SourceInput[]

interface DraftNodeInput extends Omit<DraftNode, 'inputs' | 'body' | 'data' | 'metadata'> {
  /** Where each property of the input comes from; what is absent is bound by name. */
  readonly inputs?: { readonly [property: string]: BindingInput }
  /** The plan that `map` and `loop` run. */
  readonly body?: DraftInput
  /** Node data; RAO's contract keys are read from here (`contract`, `autoApproveAbove`, …). */
  readonly data?: { readonly [key: string]: unknown }
  /** Your own data about the node; it is stored and has no effect. */
  readonly metadata?: { readonly [key: string]: unknown }
}

/** A plan written by hand. Annotate a constant with it, so that editors complete and check it: `const draft: DraftInput = { nodes: [] }`. */
export interface DraftInput extends Omit<Draft, 'nodes' | 'output' | 'metadata'> {
  /** The work. Nodes run as soon as their inputs are there. */
  readonly nodes: readonly DraftNodeInput[]
  /** Where the answer comes from: one value for all of it, or one per property; what is absent is bound by name. */
  readonly output?: BindingInput | { readonly properties: { readonly [property: string]: BindingInput } }
  /** Your own data about the plan; it is stored and has no effect. */
  readonly metadata?: { readonly [key: string]: unknown }
}

/** Values by name. Types of interfaces have no index signature, so every object is taken that is no list and no function. */
type InputValues = { readonly [name: string]: unknown } | (object & { readonly length?: never })

interface EnvelopeFields {
  /** What the run has to achieve, in words. Planners and models read it. */
  readonly objective: string
  /** Values for the capabilities, by name; they must be JSON. */
  readonly inputs?: InputValues
  /** Facts and limits of this request: `deadlineMs`, `maxCalls`, `maxCostUsd`, `threadId`, … */
  readonly constraints?: Limits & { readonly [name: string]: unknown }
  /** What plans may look like, how the run reacts to events, and where people are asked. */
  readonly policies?: PoliciesInput
  /** Further instructions for every model of the run. */
  readonly specialInstructions?: readonly string[]
  /** Temperature, reasoning effort and others, for every model of the run. Nodes may have their own. */
  readonly modelSettings?: ModelSettings
  /** Your own data about the run; it is stored and has no effect. */
  readonly metadata?: { readonly [name: string]: unknown }
}

/** An envelope in TypeScript names: `output` is the schema of the answer. */
interface TypedEnvelope<S extends OutputSchema = OutputSchema> extends EnvelopeFields {
  /** The schema of the answer: of Zod, Valibot, ArkType and others, or a JSON Schema literal. The result has its type. */
  readonly output: S
  /** `'final'`: a person approves the answer before the run completes. */
  readonly approve?: 'final'
  readonly outputContract?: never
  readonly goal_condition?: never
}

/** An envelope in the names of the wire format, as HTTP and the command line take it. */
export interface WireEnvelope<S extends OutputSchema = OutputSchema> extends EnvelopeFields {
  /** The contract of the answer: its schema, and conditions that a schema cannot express. */
  readonly outputContract: {
    readonly mode?: 'json_schema'
    readonly schema: S
    /** Wishes about the form of the answer; never a reason to fail. */
    readonly hints?: { readonly [key: string]: unknown }
    readonly constraints?: readonly ConstraintInput[]
  }
  /** @deprecated Write hard constraints in `outputContract.constraints`. */
  readonly goal_condition?: GoalCondition | readonly GoalCondition[]
  readonly output?: never
  readonly approve?: never
}

interface GoalCondition {
  readonly facet: string
  readonly path?: string
  readonly condition: Condition
}

/**
 * What a run is started with: the objective, the inputs, and the schema of the answer as `output`. The names of the wire
 * format (`outputContract`) are accepted as well, but not both in one object. To start from JSON of unknown shape, check it
 * with `parseEnvelope` of `proviso/plan` first, or pass it to `app.prepare`.
 */
export type EnvelopeInput<S extends OutputSchema = OutputSchema> = WireEnvelope<S> | TypedEnvelope<S>

/** The envelope of a message to a thread: without an `objective`, the message is the objective. */
export type MessageEnvelope<S extends OutputSchema = OutputSchema> =
  | WithoutObjective<WireEnvelope<S>>
  | WithoutObjective<TypedEnvelope<S>>

type WithoutObjective<E extends EnvelopeFields> = Omit<E, 'objective'> & Partial<Pick<E, 'objective'>>

/** An envelope in the names of the wire format, and the validator of the answer if a library brings one. */
export interface TranslatedEnvelope {
  readonly envelope: unknown
  readonly validator?: StandardSchemaV1
  /** Whether the envelope was written with `output`; issues then use that name. */
  readonly hasShortNames: boolean
}

/** Replaces `output` and `approve` by what they stand for, and schemas of other libraries by their JSON Schemas. */
export function translateEnvelope(given: unknown): TranslatedEnvelope {
  if (!isObject(given)) return { envelope: given, hasShortNames: false }
  refuseMisspelled(given)
  const { output, approve, ...rest } = given
  const hasShortNames = output !== undefined || approve !== undefined || rest['outputContract'] === undefined
  if (!hasShortNames) return translateContract(given)
  if (rest['outputContract'] !== undefined)
    throw new ProvisoError(
      'envelope/invalid',
      `Cannot use the envelope: it has both \`${output === undefined ? 'approve' : 'output'}\` and \`outputContract\``,
      { hint: 'Use either `output` and `approve`, or `outputContract` and `policies`' },
    )
  const validator = isForeignSchema(output) ? output : undefined
  const schema = validator ? toJsonSchema(validator) : output
  return {
    envelope: {
      ...rest,
      ...(schema !== undefined && { outputContract: { schema } }),
      ...(approve !== undefined && { policies: withApproval(rest['policies'], approve) }),
    },
    ...(validator && { validator }),
    hasShortNames,
  }
}

/** The parser knows the names of the wire format only, and no values of other libraries. */
function refuseMisspelled(given: { readonly [name: string]: unknown }): void {
  const issues = Object.keys(given).flatMap((key) => {
    const meant = closest(key, ['output', 'approve'])
    if (meant === undefined || meant === key) return []
    const message = `the property ${JSON.stringify(key)} is not allowed`
    return [
      {
        code: 'schema/additionalProperties',
        at: { pointer: child('', key) },
        message,
        hint: `Did you mean "${meant}"?`,
      },
    ]
  })
  const [first] = issues
  if (first)
    throw new ProvisoError(
      'envelope/invalid',
      `Cannot use the envelope: ${first.at.pointer} ${first.message}`,
      { issues, hint: first.hint },
    )
}

/** A contract of the wire format may hold the schema of another library as well. */
function translateContract(given: { readonly [name: string]: unknown }): TranslatedEnvelope {
  const contract = given['outputContract']
  const validator = isObject(contract) && isForeignSchema(contract['schema']) ? contract['schema'] : undefined
  if (!validator || !isObject(contract)) return { envelope: given, hasShortNames: false }
  return {
    envelope: { ...given, outputContract: { ...contract, schema: toJsonSchema(validator) } },
    validator,
    hasShortNames: false,
  }
}

/** Adds the directive that asks a person before the run completes. Policies that are not readable are left to the parser. */
function withApproval(policies: unknown, approve: unknown): unknown {
  if (approve !== 'final')
    throw new ProvisoError(
      'envelope/invalid',
      `\`approve\` must be "final", got ${JSON.stringify(approve)}`,
      {
        hint: 'Write `approve: "final"`, or name nodes with `policies.planner.directives.hitlRequiredFor`',
      },
    )
  if (policies !== undefined && !isObject(policies)) return policies
  const planner = policies?.['planner']
  if (planner !== undefined && !isObject(planner)) return policies
  const directives = planner?.['directives']
  if (directives !== undefined && !isObject(directives)) return policies
  return { ...policies, planner: { ...planner, directives: { ...directives, askBeforeFinish: true } } }
}

/** Plans are proven with JSON Schemas, so every schema needs one. */
function toJsonSchema(schema: StandardSchemaV1): JsonSchema {
  const converted = standardJsonSchema(schema)
  if (converted !== undefined) return relaxSchema(converted)
  throw new ProvisoError(
    'envelope/invalid',
    `Cannot use the envelope: the output schema of ${schema['~standard'].vendor} has no JSON Schema`,
    { hint: `Pass a JSON Schema, or ${whatToInstall}` },
  )
}
