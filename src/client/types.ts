/** The nouns of the API under short names, taken from the generated types of its OpenAPI document. */
import type { components, operations } from './api.ts'

type Answer<Name extends keyof operations, Status extends number> =
  operations[Name]['responses'] extends Record<Status, { content: { 'application/json': infer Body } }>
    ? Body
    : never

/** One event of a run. `id` is its sequence number, from 1 without gaps. */
export type RunEvent = components['schemas']['Frame']

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

/** The recorded decision. `missingApprovals`: how many more people must approve. */
export type Decided = Answer<'resolveAsk', 200>

type Reply = operations['resolveAsk']['requestBody']['content']['application/json']
export type Decision = Reply['decision']
export type RejectAction = NonNullable<Reply['rejectAction']>
export type ReplyBody = Reply

export type RunPages = Answer<'listRuns', 200>
export type AskPages = Answer<'listAsks', 200>
export type Begun = Answer<'createRun', 202>
export type OutputPage = Answer<'showOutput', 200>
export type Cancelled = Answer<'cancelRun', 202>

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
