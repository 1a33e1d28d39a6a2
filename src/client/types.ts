/** The nouns of the API under short names, taken from the generated types of its OpenAPI document. */
import type { components, operations } from './api.ts'

type Answer<Name extends keyof operations, Status extends number> =
  operations[Name]['responses'] extends Record<Status, { content: { 'application/json': infer Body } }>
    ? Body
    : never

/** One event of a run. `id` is its sequence number, from 1 without gaps. */
export type RunEvent = components['schemas']['Frame']

export type PartialFrame = components['schemas']['PartialFrame']

/** A value of a node while a model or an agent writes it: unvalidated, and never stored. */
export interface RunPartial {
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
  /** The whole value so far: members may be missing, texts cut off, and numbers still be texts. */
  readonly value: unknown
  /** Of an agent: what its model has written of the turn. Until it writes the answer, `value` is null. */
  readonly turn?: TurnPartial
}

/** A turn of an agent while its model writes it: the text so far, and its calls with their arguments so far. */
export type TurnPartial = NonNullable<PartialFrame['payload']['turn']>

/** Why a run failed. `details.code` is the stable name of the failure. */
export type RunFailure = components['schemas']['Error']

/** A refused request as the server reports it (RFC 9457). */
export type Problem = components['schemas']['Problem']

/** Everything that the server shows about a run. */
export type RunPage = Answer<'showRun', 200>

/** A run in a list. */
export type RunSummary = Answer<'listRuns', 200>['runs'][number]

export type RunStatus = RunSummary['status']

/** A human-in-the-loop request in a list, with its status. */
export type AskSummary = Answer<'listAsks', 200>['asks'][number]

export type AskQuery = Omit<NonNullable<operations['listAsks']['parameters']['query']>, 'after' | 'limit'>
export type RunQuery = Omit<NonNullable<operations['listRuns']['parameters']['query']>, 'before' | 'limit'>

/** A task of a person. */
export type Task = Answer<'listTasks', 200>['tasks'][number]
export type TaskPages = Answer<'listTasks', 200>
export type TaskQuery = Omit<NonNullable<operations['listTasks']['parameters']['query']>, 'after' | 'limit'>

export type Thread = Answer<'showThread', 200>
export type ThreadPages = Answer<'listThreads', 200>
export type ThreadSummary = ThreadPages['threads'][number]

/** What an agent has remembered. */
export type Memory = MemoryPage['memories'][number]
export type MemoryPage = Answer<'listMemories', 200>

export type SystemStatus = Answer<'showStatus', 200>

export type Schedule = Answer<'showSchedule', 200>
export type SchedulePage = Answer<'listSchedules', 200>
export type NewSchedule = operations['createSchedule']['requestBody']['content']['application/json']
export type ScheduleChange = operations['changeSchedule']['requestBody']['content']['application/json']

export type Webhook = Answer<'createWebhook', 201>
export type WebhookPage = Answer<'listWebhooks', 200>
export type NewWebhook = operations['createWebhook']['requestBody']['content']['application/json']
export type WebhookChange = operations['changeWebhook']['requestBody']['content']['application/json']
export type DeliveryPages = Answer<'listDeliveries', 200>
/** One notice to a webhook, with every try and the body as it is sent. */
export type WebhookDelivery = DeliveryPages['deliveries'][number]
export type DeliveryQuery = Omit<
  NonNullable<operations['listDeliveries']['parameters']['query']>,
  'after' | 'limit'
>

/** The recorded decision. `missingApprovals`: how many more people must approve. */
export type Decided = Answer<'resolveAsk', 200>

type Reply = operations['resolveAsk']['requestBody']['content']['application/json']
export type GrantScope = NonNullable<Reply['grant']>
export type RejectAction = NonNullable<Reply['rejectAction']>
export type ReplyBody = Reply

export type RunPages = Answer<'listRuns', 200>
export type AskPages = Answer<'listAsks', 200>
export type Begun = Answer<'createRun', 202>
export type OutputPage = Answer<'showOutput', 200>
export type Cancelled = Answer<'cancelRun', 202>

/** Who the token belongs to, and which optional features the server has. */
export type CallerInfo = Answer<'showCaller', 200>

/** Plan and proof of an envelope, also if the plan is rejected. */
export type ProofPage = Answer<'proveEnvelope', 200>

export type CapabilityPage = Answer<'listCapabilities', 200>
export type FacetPage = Answer<'listFacets', 200>

/** How well models satisfy their contracts, over time, and what to change. */
export type HealthReport = Answer<'showHealth', 200>
export type HealthQuery = NonNullable<operations['showHealth']['parameters']['query']>

/** What the engine would decide; without changes nothing differs. */
export type Replayed = Answer<'replayRun', 200>
export interface ReplayChanges {
  /** Instead of the runtime policies of the envelope. */
  readonly policies?: readonly unknown[]
  /** Over the data of nodes, by id, such as thresholds of confidence. */
  readonly nodeData?: { readonly [nodeId: string]: { readonly [key: string]: unknown } }
}

/** Facets, capabilities, prompt and templates of the sandbox. */
export type SandboxMetadata = Answer<'sandboxMetadata', 200>
/** One reply of the sandbox assistant, with the draft as it is now. */
export type SandboxTurn = Answer<'startSandboxConversation', 200>

/** A page of a run's events. `next` is absent when the run is over and everything was read. */
export interface EventPage {
  readonly events: readonly RunEvent[]
  readonly next?: number
}

/** What a run should achieve: the envelope of the API. */
export interface RunEnvelope {
  readonly objective: string
  /** Values for the capabilities, by name; they must be JSON. */
  readonly inputs?: { readonly [name: string]: unknown } | (object & { readonly length?: never })
  /** The contract of the answer: `schema` is a JSON Schema. */
  readonly outputContract: {
    readonly schema: boolean | { readonly [keyword: string]: unknown }
    readonly mode?: 'json_schema'
    readonly hints?: { readonly [name: string]: unknown }
    readonly constraints?: readonly unknown[]
  }
  /** What plans may look like, how the run reacts to events, and where people are asked. */
  readonly policies?: RunPolicies
  /** Limits and facts of this request: `deadlineMs`, `maxCalls`, `maxCostUsd`, … */
  readonly constraints?: RunLimits & { readonly [name: string]: unknown }
  /** Further instructions for every model of the run. */
  readonly specialInstructions?: readonly string[]
  /** Temperature, reasoning effort and others, for every model of the run. Nodes may have their own. */
  readonly modelSettings?: RunModelSettings
  /** Your own data about the run; it is stored and has no effect. */
  readonly metadata?: { readonly [name: string]: unknown }
}

// The members below are those of the library, and a test compares them. This module shares nothing with the server.

export interface RunLimits {
  /** Tokens of all model calls, in and out. */
  readonly maxTokens?: number
  /** Calls of models and agents. */
  readonly maxCalls?: number
  /** Models without a known price are not called under it. */
  readonly maxCostUsd?: number
  /** From the start of the run to its end, waiting for people included. */
  readonly deadlineMs?: number
  /** Attempts of this run at one time. Default 16. */
  readonly concurrency?: number
  /** Asks in one run. Default 3. */
  readonly maxAsks?: number
  /** New plan versions in one run. Default 2. */
  readonly maxReplans?: number
}

export interface RunModelSettings {
  /** 0 to 2; higher is more random. */
  readonly temperature?: number
  /** Nucleus sampling, 0 to 1. Set this or `temperature`. */
  readonly topP?: number
  /** Most tokens of one answer. */
  readonly maxOutputTokens?: number
  /** Makes sampling repeatable, where the provider supports it. */
  readonly seed?: number
  /** Texts that end the answer; they are not part of it. */
  readonly stop?: readonly string[]
  /** How much a model reasons before it answers. */
  readonly reasoningEffort?: 'none' | 'minimal' | 'low' | 'medium' | 'high'
  /** Further options by provider, in the names of its AI SDK package. */
  readonly providerOptions?: { readonly [provider: string]: { readonly [name: string]: unknown } }
}

/** Policies of a caller. Everything has a default. */
export interface RunPolicies {
  /** What plans may look like. */
  readonly planner?: {
    readonly topology?: {
      readonly variantCount?: number
      readonly maxDepth?: number
      readonly requiredKinds?: readonly string[]
      readonly forbiddenKinds?: readonly string[]
    }
    readonly selection?: {
      readonly require?: readonly string[]
      readonly forbid?: readonly string[]
      readonly prefer?: readonly string[]
      readonly avoid?: readonly string[]
    }
    readonly optimisation?: {
      readonly objective?: 'speed' | 'quality' | 'diversity' | 'token_efficiency'
      /** Also the run's limit of tokens. */
      readonly maxTokens?: number
    }
    /** Free hints for the planner; these mean something to the engine. */
    readonly directives?: {
      /** A person approves the answer before the run completes. */
      readonly askBeforeFinish?: boolean
      /** A person approves the result of every node with one of these labels. */
      readonly hitlRequiredFor?: readonly string[]
      /** One branch node each. */
      readonly branchVariants?: number | readonly unknown[]
      /** Whether side effects after untrusted content need an approval. Default `ask`. */
      readonly sideEffects?: 'ask' | 'allow'
      readonly [directive: string]: unknown
    }
  }
  /** Reactions to events of the run, in order, and RAO contracts. */
  readonly runtime?:
    | readonly RunPolicy[]
    | { readonly rao?: unknown; readonly policies?: readonly RunPolicy[] }
  /** What follows when a node has failed for good. Default `fail`. */
  readonly onNodeFail?: 'ask' | 'fail'
  /** What follows when a person rejects a value and the reply does not say. Default `retry`. */
  readonly rejectAction?: RejectAction
  /** How many different people must approve. Default 1. */
  readonly approvers?: number
  /** @deprecated Pass the input `toneOfVoice`. */
  readonly brandVoice?: string | readonly string[]
  /** @deprecated Pass the input `audienceProfile.persona`. */
  readonly persona?: string
  /** @deprecated Set `planner.topology.variantCount`. */
  readonly variantCount?: number
  /** @deprecated Set `approve: 'final'`, or `planner.directives.askBeforeFinish`. */
  readonly requiresHitlApproval?: boolean
  /** @deprecated Set `planner.directives.hitlRequiredFor`. */
  readonly hitlRequiredFor?: readonly string[]
  /** @deprecated Set `planner.directives.branchVariants`. */
  readonly branchVariants?: number | readonly unknown[]
}

interface RunSelector {
  readonly kind?: string
  readonly capabilityId?: string
}

/** A reaction to events of the run, or a RAO contract. */
export type RunPolicy =
  | {
      readonly id: string
      readonly enabled?: boolean
      readonly trigger: RunTrigger
      readonly action: RunAction
      /** How often it may act in one run. Default: no limit. */
      readonly maxAttempts?: number
    }
  | {
      readonly id: string
      readonly enabled?: boolean
      /** Absent: every node that calls something. */
      readonly selector?: RunSelector & { readonly nodeId?: string; readonly facet?: string }
      readonly rao: object
    }

type RunTrigger =
  | { readonly kind: 'onStart' | 'manual' }
  | {
      readonly kind: 'onNodeComplete' | 'onValidationFail'
      readonly selector?: RunSelector
      readonly condition?: unknown
    }
  | { readonly kind: 'onTimeout'; readonly ms: number }
  | { readonly kind: 'onMetricBelow'; readonly metric: string; readonly threshold: number }

type RunAction =
  | { readonly type: 'replan'; readonly rationale?: string }
  | {
      readonly type: 'hitl'
      readonly rationale?: string
      /** After approval; absent means resume. */
      readonly approveAction?: RunAction
      /** After rejection; absent means fail. */
      readonly rejectAction?: RunAction
    }
  | { readonly type: 'retry' }
  | { readonly type: 'fail'; readonly message?: string }
  | { readonly type: 'pause'; readonly reason?: string }
  | { readonly type: 'emit'; readonly event: string; readonly payload?: { readonly [key: string]: unknown } }

/** A plan written by hand. */
export interface RunDraft {
  /** The work. Nodes run as soon as their inputs are there. */
  readonly nodes: readonly RunDraftNode[]
  /** Order and conditions beyond what bindings imply. */
  readonly edges?: readonly {
    readonly from: string
    readonly to: string
    readonly when?: 'pass' | 'fail' | 'always'
  }[]
  /** Where the answer comes from: one value for all of it, or one per property. */
  readonly output?: object
  readonly limits?: RunLimits
  readonly metadata?: { readonly [key: string]: unknown }
}

interface RunDraftNode {
  /** Unique in the draft. */
  readonly id: string
  readonly kind?: string
  /** Name for people; policies can ask for approval by it. */
  readonly label?: string
  /** Who does it. Absent for routing nodes. */
  readonly capabilityId?: string
  readonly derived?: boolean
  readonly facets?: { readonly input?: readonly string[]; readonly output?: readonly string[] }
  /** JSON Schemas by hand, instead of or in addition to facets. */
  readonly contracts?: { readonly input?: unknown; readonly output?: unknown }
  /** Where each property of the input comes from; what is absent is bound by name. */
  readonly inputs?: { readonly [property: string]: object }
  readonly instructions?: string
  readonly tools?: readonly (string | object)[]
  readonly routing?: object
  readonly map?: object
  readonly loop?: object
  /** The plan that `map` and `loop` run. */
  readonly body?: RunDraft
  readonly postConditions?: readonly unknown[]
  readonly data?: { readonly [key: string]: unknown }
  readonly constraints?: object
  readonly retry?: object
  /** Other capabilities to try, in order. */
  readonly alternates?: readonly string[]
  readonly onFail?: 'fail' | 'ask'
  readonly callBudget?: number
  readonly tokenBudget?: number
  readonly costBudgetUsd?: number
  readonly timeoutMs?: number
  readonly rationale?: string
  readonly metadata?: { readonly [key: string]: unknown }
}

/** How people sign in to a user interface of this server. */
export type SignInChoice = Answer<'showSignIn', 200>
export type CodeExchange = operations['signIn']['requestBody']['content']['application/json']
export type SignedIn = Answer<'signIn', 200>
