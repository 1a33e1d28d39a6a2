/** The tables, by the specifications' names, as both databases have them. Texts hold JSON where a comment says so. */

export interface Tables {
  flex_runs: RunTable
  flex_events: EventTable
  flex_values: { hash: string; body: string }
  /** Every large value that a run refers to, be it inside of another value. */
  flex_value_uses: { hash: string; run_id: string }
  flex_plan_nodes: NodeTable
  flex_plan_snapshots: SnapshotTable
  flex_run_outputs: OutputTable
  hitl_requests: AskTable
  hitl_events: AuditTable
  spans: SpanTable
  /** Only where it is switched on. */
  correction_ledger: CorrectionTable
  flex_capabilities: CapabilityTable
  api_tokens: TokenTable
  once_names: NameTable
  operations_audit: OperationTable
  flex_documents: DocumentTable
  agent_messages: MessageTable
  /** Not written yet; what is named here is what deleting a run needs. */
  traces: { run_id: string }
}

export interface RunTable {
  run_id: string
  tenant: string
  seq: number
  status: string
  plan_version: number
  wake_at: number | null
  created_at: number
  updated_at: number
  objective: string
  schema_hash: string
  persona: string | null
  variant_policy: string | null
  pipeline: string | null
  thread_id: string | null
  correlation_id: string
  satisfaction_score: number | null
  observed_satisfaction: number | null
  cost_usd: number | null
  tokens: number | null
  lease_owner: string | null
  lease_epoch: number
  lease_until: number | null
  /** `dueAt` of `heads.ts`, so that one index answers `claim` and `nextWake`. */
  due_at: number | null
  /** Names one call of `claim`, so that it can be found again when the answer got lost. */
  claim_id: string | null
  /** See `placement.ts`. */
  priority: number
  placement: string | null
  /** The last event that the rows of nodes contain; null: they contain all (`rows/lagging-nodes.ts`). */
  nodes_seq: number | null
}

/** One event, or several events of one append in a row (`writes.ts`). */
export interface EventTable {
  run_id: string
  /** Of the last event in the row. */
  seq: number
  /** Number of events in the row. */
  events: number
  type: string
  version: number
  at: number
  plan_version: number
  node_id: string | null
  message: string | null
  /** JSON */
  payload: string
  /** Names one append, so that it can be found again when the answer got lost. */
  write_id: string
  /** SQLite only: the link of the commit whose last event this is. */
  link: string | null
}

export interface NodeTable {
  run_id: string
  node_id: string
  position: number
  plan_version: number
  capability_id: string | null
  kind: string
  label: string | null
  status: string
  attempts: number
  context_hash: string | null
  validation_status: string | null
  /** JSON */
  output: string | null
  /** JSON */
  error: string | null
  started_at: number | null
  ended_at: number | null
  attempt_started_at: number | null
  /** JSON: what the trace of the attempt under way has said so far. */
  signals: string | null
}

export interface SnapshotTable {
  run_id: string
  seq: number
  plan_version: number
  at: number
  /** JSON */
  pending_node_ids: string
  /** JSON */
  plan: string
  /** JSON */
  facets: string
}

export interface OutputTable {
  run_id: string
  plan_version: number
  status: string
  /** JSON */
  output: string | null
  /** JSON */
  error: string | null
  /** JSON */
  provenance: string | null
  /** JSON */
  facets: string | null
  schema_hash: string
  at: number
}

export interface AskTable {
  run_id: string
  request_id: string
  tenant: string
  status: string
  pending_node_id: string | null
  created_at: number
  expires_at: number
  resolved_at: number | null
  decision: string | null
  decided_by: string | null
  note: string | null
  /** JSON: the Ask as it was put. */
  payload: string
}

export interface AuditTable {
  run_id: string
  seq: number
  request_id: string
  at: number
  decided_by: string
  what: string
  subject_hash: string
  prev: string
  hash: string
}

export interface MessageTable {
  message_id: string
  flex_run_id: string
  tenant: string
  seq: number
  at: number
  role: string
  request_id: string
  node_id: string | null
  /** JSON */
  body: string
}

export interface SpanTable {
  run_id: string
  span_id: string
  parent_span_id: string | null
  name: string
  started_at: number
  ended_at: number
  status: string
  /** JSON */
  attributes: string
  seq: number
  /** The following are taken from the attributes of attempts that called a model, so that `sample.ts` can add them up. */
  node_id: string | null
  model_id: string | null
  /** JSON with sorted keys. */
  signals: string | null
  repair_calls: number | null
  repair_input_tokens: number | null
  repair_output_tokens: number | null
  repair_cost_usd: number | null
  repair_cost_unknown: number | null
}

export interface CorrectionTable {
  id: string
  timestamp: number
  step_name: string
  agent_id: string | null
  provider_model: string | null
  schema_hash: string | null
  coercion_policy_version: string
  stage: string
  repair_depth: number
  /** JSON */
  transforms_applied: string
  latency_ms_saved: number | null
}

export interface CapabilityTable {
  tenant: string
  capability_id: string
  /** JSON: as it was registered. */
  body: string
  /** JSON: where and how it is called, with what is secret about it. */
  endpoint: string
  /** What it was when the row was written; whether it is alive is reckoned from `last_seen_at` and `ttl_ms`. */
  status: string
  registered_at: number
  last_seen_at: number
  ttl_ms: number
  token_id: string
}

export interface TokenTable {
  token_id: string
  tenant: string
  role: string
  name: string
  hash: string
  created_at: number
  expires_at: number | null
  revoked_at: number | null
  capability_id: string | null
  family_id: string | null
  /** JSON: a list of names. */
  task_roles: string | null
}

export interface NameTable {
  /** SHA-256 of the name, which may be longer than an index can hold. */
  name_hash: string
  name: string
  /** JSON */
  body: string
  taken_at: number
  expires_at: number
  /** Names one call of `take`, so that it is known again when the answer got lost. */
  take_id: string
}

export interface DocumentTable {
  /** SHA-256 of kind, tenant and id, which may be longer than an index can hold. */
  key_hash: string
  kind: string
  tenant: string
  document_id: string
  run_id: string | null
  due_at: number | null
  /** JSON */
  body: string
  version: number
  created_at: number
  updated_at: number
  /** Names one change, so that it is known again when the answer got lost. */
  change_id: string
}

export interface OperationTable {
  seq: number
  at: number
  tenant: string
  actor: string
  action: string
  subject: string
  /** JSON */
  details: string
  prev: string
  hash: string
}
