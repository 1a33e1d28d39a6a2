/**
 * The entry point `proviso/types`: types for programs that write stores, dispatchers, planners or tools, and the statuses of runs.
 * What most programs need is in `proviso`.
 */

export type { LocalFunction, PreparedRun, TracingOptions } from './app.ts'
export type { AskKind, Decision } from './domain/ask.ts'
export type { AgentDefinition, AgentToolInput, Tool } from './domain/capability/define-agent.ts'
export type { Endpoint, SigningKey } from './domain/capability/endpoint.ts'
export type { CapabilityKind, ContractSide, NodeKind } from './domain/capability.ts'
export type { Condition, Constraint, Level, OutputContract } from './domain/contract.ts'
export type { Cause, Diagnostic, DiagnosticBundle } from './domain/diagnostic.ts'
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
export type { EventPayloads, EventType, Failure, Provenance } from './domain/event.ts'
export type { AgentLimits, Approval, ToolUse } from './domain/loop/agent-settings.ts'
export type { AttemptIssueCode, Outcome, Output, Usage } from './domain/output.ts'
export type { ParseIssueCode } from './domain/parse/issue-table.ts'
export type { Binding, DraftNode, Edge, Plan, PlanNode, Retry, Routing, Source } from './domain/plan.ts'
export type { Action, Policies, RaoPolicy, RaoSelector, RuntimePolicy, Trigger } from './domain/policy.ts'
export type { Bundle, Dispatch } from './domain/ports/dispatcher.ts'
export type { Erased, ErasedRun } from './domain/ports/erase.ts'
export type { NewOperation, OperationAction, OperationRow, Operations } from './domain/ports/operations.ts'
export type { Considered, DraftRequest } from './domain/ports/planner.ts'
export type { AnswerPart, ModelMessage, ModelTool, ToolResult } from './domain/ports/provider.ts'
export type {
  AskRow,
  AuditRow,
  MessageRow,
  NodeRow,
  OutputRow,
  RunQuery,
  SpanRow,
} from './domain/ports/store.ts'
export type { RaoDecision } from './domain/rao/rao-contract.ts'
export type { RaoSettings } from './domain/rao/settings.ts'
export type { RunHead } from './domain/run.ts'
export type { NodeStatus } from './domain/status.ts'
export { isTerminal, isWaiting, runStatuses, terminalStatuses, waitingStatuses } from './domain/status.ts'
export type { EraseRequest, ErasurePreview, ErasureReceipt } from './engine/erase.ts'
export type { WatchOptions } from './engine/journal/journal.ts'
export type { Difference, ReplayChanges, Replayed } from './engine/replay/replay.ts'
