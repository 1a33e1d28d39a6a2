/** Entry point of the client: `import { createClient } from 'proviso/client'`. Runs in browsers and in Node. */

export type { components, operations, paths } from './api.ts'
export type { Ask, AskRef, AsksClient, OpenAsk, RejectOptions, ReplyOptions } from './asks.ts'
export { type ClientCode, ClientError, type ClientErrorOptions } from './client-error.ts'
export { type ClientRun, type ResultOptions, RunError, type RunResult } from './client-run.ts'
export {
  type Client,
  createClient,
  type OutputOption,
  type RunsClient,
  type StartOptions,
} from './create-client.ts'
export type { RetryOptions } from './retry.ts'
export type { FollowOptions } from './run-events.ts'
export type { ClientOptions } from './transport.ts'
export type {
  AskQuery,
  AskSummary,
  Decided,
  Problem,
  RejectAction,
  RunEnvelope,
  RunEvent,
  RunFailure,
  RunPage,
  RunQuery,
  RunStatus,
  RunSummary,
} from './types.ts'
