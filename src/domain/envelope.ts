/** The request that a caller submits: objective, inputs, policies, and the contract of the answer. */
import type { Json } from '../base/json.ts'
import type { OutputContract } from './contract.ts'
import type { Policies } from './policy.ts'
import type { ModelSettings } from './settings/model-settings.ts'

export interface Envelope {
  readonly objective: string
  readonly inputs: { readonly [name: string]: Json }
  /** Facts of the request itself: `threadId`, `resumeRunId`, limits of time and money (see `Limits`). */
  readonly constraints: { readonly [name: string]: Json }
  readonly outputContract: OutputContract
  readonly policies: Policies
  readonly specialInstructions: readonly string[]
  /** Settings of every model call of the run; those of a node replace them. */
  readonly modelSettings?: ModelSettings
  readonly metadata: { readonly [name: string]: Json }
}
