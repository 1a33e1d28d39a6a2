/** The main entry point, `import … from 'proviso'`. To parse model text only, import `proviso/output`. */

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
  LocalFunction,
  OpenAsk,
  OutputSchema,
  OutputValue,
  PoliciesInput,
  PreparedRun,
  PrepareOptions,
  RunHandle,
  RunIssueCode,
  RunOptions,
  RunResult,
  TracingOptions,
  WaitingRun,
  WireEnvelope,
} from './app.ts'
export { createApp, defineCapability, tracedProvider } from './app.ts'
export type { ErrorCode } from './base/errors/error.ts'
export { ProvisoError } from './base/errors/error.ts'
export type { Json } from './base/json.ts'
export type { Clock } from './base/time/clock.ts'
export type { Ask, AskKind, Decision, Reply } from './domain/ask.ts'
export type { FailureCode } from './domain/attempt/failure-code.ts'
export type { Endpoint, SigningKey } from './domain/capability/endpoint.ts'
export type { Capability, CapabilityKind, ContractSide, NodeKind } from './domain/capability.ts'
export type { Condition, Constraint, Level, OutputContract } from './domain/contract.ts'
export type { Cause, Diagnostic, DiagnosticBundle } from './domain/diagnostic.ts'
export type { Envelope } from './domain/envelope.ts'
export type { ErrorEnvelope, ErrorType } from './domain/errors/error-envelope.ts'
export type { Frame } from './domain/event/frame.ts'
export type {
  AppendedNotice,
  EndedNode,
  LeftNotice,
  LifecycleListener,
  LifecycleNotice,
  LifecycleOptions,
} from './domain/event/lifecycle.ts'
export type { EventPayloads, EventType, Failure, JournalEvent, Provenance } from './domain/event.ts'
export type { Facet } from './domain/facet.ts'
export type { AttemptIssueCode, AttemptResult, Outcome, Output, Usage } from './domain/output.ts'
export type { ParseIssueCode } from './domain/parse/issue-table.ts'
export type {
  Binding,
  Draft,
  DraftNode,
  Edge,
  Plan,
  PlanNode,
  Retry,
  Routing,
  Source,
} from './domain/plan.ts'
export type {
  Action,
  Policies,
  RaoPolicy,
  RaoSelector,
  RuntimePolicy,
  Trigger,
} from './domain/policy.ts'
export type { Bundle, Dispatch, Dispatcher } from './domain/ports/dispatcher.ts'
export type { Erased, ErasedRun } from './domain/ports/erase.ts'
export type { NewOperation, OperationAction, OperationRow, Operations } from './domain/ports/operations.ts'
export type { Considered, DraftRequest, Planner } from './domain/ports/planner.ts'
export type { ModelAnswer, ModelRequest, Provider } from './domain/ports/provider.ts'
export type {
  AskRow,
  AuditRow,
  MessageRow,
  NodeRow,
  OutputRow,
  RunQuery,
  SpanRow,
  Store,
} from './domain/ports/store.ts'
export type { RaoDecision } from './domain/rao/rao-contract.ts'
export type { RaoSettings } from './domain/rao/settings.ts'
export type { RunHead, RunState } from './domain/run.ts'
export type { NodeStatus, RunStatus } from './domain/status.ts'
export type { EraseRequest, ErasurePreview, ErasureReceipt } from './engine/erase.ts'
export type { WatchOptions } from './engine/journal/journal.ts'
export type { Difference, ReplayChanges, Replayed } from './engine/replay/replay.ts'
export type {
  Allow,
  AnySchema,
  Conversion,
  CustomStage,
  Infer,
  Issue,
  JsonSchema,
  Limits,
  Location,
  ParseFailure,
  ParseOptions,
  ParseResult,
  ParseSuccess,
  Pointer,
  Pushed,
  Reader,
  ReaderEvent,
  ReaderIssue,
  ReaderIssueCode,
  Repair,
  Stage,
  TextRange,
} from './output/index.ts'
export {
  createReader,
  detectJson,
  explain,
  feedback,
  normalizeJsonText,
  parse,
  parseAndValidate,
  replay,
  schemaHash,
  simplifySchema,
  validateType,
} from './output/index.ts'
