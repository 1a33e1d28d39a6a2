/** The request that a caller submits: objective, inputs, policies, and the contract of the answer. */
import type { Json } from '../base/json.ts'
import type { OutputContract } from './contract.ts'
import type { Policies } from './policy.ts'

export interface Envelope {
  readonly objective: string
  readonly inputs: { readonly [name: string]: Json }
  /** Facts of the request itself: `threadId`, `resumeRunId`, limits of time and money (see `Limits`). */
  readonly constraints: { readonly [name: string]: Json }
  readonly outputContract: OutputContract
  readonly policies: Policies
  readonly specialInstructions: readonly string[]
  readonly metadata: { readonly [name: string]: Json }
}
