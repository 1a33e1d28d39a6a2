/** The main entry point, `import … from 'proviso'`. To parse model text only, import `proviso/output`; types of stores, plans and events are in `proviso/types`. */

export type {
  App,
  AppOptions,
  CancelledRun,
  CapabilityDefinition,
  CompletedRun,
  DecisionInput,
  DefinedCapability,
  DraftInput,
  EnvelopeInput,
  FailedRun,
  GenerateRequest,
  HttpOptions,
  LocalContext,
  OpenAsk,
  OutputSchema,
  OutputValue,
  PoliciesInput,
  PrepareOptions,
  RunHandle,
  RunIssueCode,
  RunOptions,
  RunResult,
  WaitingRun,
  WireEnvelope,
} from './app.ts'
export { createApp, defineCapability, tracedProvider } from './app.ts'
export type { ErrorCode } from './base/errors/error.ts'
export { ProvisoError } from './base/errors/error.ts'
export type { Json } from './base/json.ts'
export type { Clock } from './base/time/clock.ts'
export type { Ask, Reply } from './domain/ask.ts'
export type { FailureCode } from './domain/attempt/failure-code.ts'
export { defineAgent, tool } from './domain/capability/define-agent.ts'
export type { Capability } from './domain/capability.ts'
export type { Envelope } from './domain/envelope.ts'
export type { JournalEvent } from './domain/event.ts'
export type { Facet } from './domain/facet.ts'
export type { AttemptResult } from './domain/output.ts'
export type { Draft } from './domain/plan.ts'
export type { Dispatcher } from './domain/ports/dispatcher.ts'
export type { Planner } from './domain/ports/planner.ts'
export type { ModelAnswer, ModelRequest, Provider } from './domain/ports/provider.ts'
export type { Store } from './domain/ports/store.ts'
export type { RunState } from './domain/run.ts'
export type { RunStatus } from './domain/status.ts'
export type { Infer, Issue, JsonSchema, ParseOptions, ParseResult } from './output/index.ts'
export { createReader, explain, feedback, parse, replay } from './output/index.ts'
