/** Entry point of the client: `import { createClient } from 'proviso/client'`. Runs in browsers and in Node. */

export type { components, operations, paths } from './api.ts'
export type { Ask, AskRef, AsksClient, OpenAsk, RejectOptions, ReplyOptions } from './asks.ts'
export { type ClientCode, ClientError, type ClientErrorOptions } from './client-error.ts'
export { type ClientRun, type ResultOptions, RunError, type RunIssue, type RunResult } from './client-run.ts'
export {
  type CatalogClient,
  type Client,
  createClient,
  type ListOptions,
  type OutputOption,
  type RunsClient,
  type SignInClient,
  type StartOptions,
} from './create-client.ts'
export type { RetryOptions } from './retry.ts'
export type { FollowOptions, RunUpdate } from './run-events.ts'
export type { RequestOutput, RunOutput, RunRequest } from './run-request.ts'
export type { SandboxClient, SandboxMessage } from './sandbox.ts'
export type { NewSchedule, ScheduleChange, SchedulesClient } from './schedules/schedules.ts'
export type { TaskOptions, TasksClient } from './tasks.ts'
export type { MemoriesClient, SaidMessage, SayOptions, ThreadsClient } from './threads.ts'
export type { ClientOptions } from './transport.ts'
export type {
  AskQuery,
  AskSummary,
  CallerInfo,
  CapabilityPage,
  CodeExchange,
  Decided,
  DeliveryQuery,
  EventPage,
  FacetPage,
  HealthQuery,
  HealthReport,
  Memory,
  NewWebhook,
  Problem,
  ProofPage,
  RejectAction,
  ReplayChanges,
  Replayed,
  RunDraft,
  RunEnvelope,
  RunEvent,
  RunFailure,
  RunLimits,
  RunModelSettings,
  RunPage,
  RunPartial,
  RunPolicies,
  RunPolicy,
  RunQuery,
  RunStatus,
  RunSummary,
  SandboxMetadata,
  SandboxTurn,
  Schedule,
  SignedIn,
  SignInChoice,
  SystemStatus,
  Task,
  TaskQuery,
  Thread,
  ThreadSummary,
  TurnPartial,
  Webhook,
  WebhookChange,
  WebhookDelivery,
} from './types.ts'
export type { WebhooksClient } from './webhooks.ts'
