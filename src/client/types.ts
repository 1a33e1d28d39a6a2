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
  readonly inputs?: { readonly [name: string]: unknown }
  /** The contract of the answer: `schema` is a JSON Schema. */
  readonly outputContract: {
    readonly schema: boolean | { readonly [keyword: string]: unknown }
    readonly mode?: 'json_schema'
    readonly hints?: { readonly [name: string]: unknown }
    readonly constraints?: readonly unknown[]
  }
  readonly policies?: { readonly [name: string]: unknown }
  /** Limits of the run, such as `maxTokens` and `maxCostUsd`. */
  readonly constraints?: { readonly [name: string]: unknown }
  readonly specialInstructions?: readonly string[]
  readonly metadata?: { readonly [name: string]: unknown }
}

/** How people sign in to a user interface of this server. */
export type SignInChoice = Answer<'showSignIn', 200>
export type CodeExchange = operations['signIn']['requestBody']['content']['application/json']
export type SignedIn = Answer<'signIn', 200>
