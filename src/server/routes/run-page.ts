/** Routes that show what is stored about one run: everything for debugging (`GET runs/:id`), its answer, its journal. */

import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import { errorSchema } from '../../domain/errors/error-envelope.ts'
import { storedError } from '../../domain/errors/failure-error.ts'
import { measureProgress, type PlanView } from '../../domain/plan/progress.ts'
import { isInternalNode, markInternal } from '../../domain/plan/visible-nodes.ts'
import type { Plan } from '../../domain/plan.ts'
import type { MessageRow, NodeRow, OutputRow, SnapshotRow, Store } from '../../domain/ports/store.ts'
import { currentNodes } from '../../domain/run/current-nodes.ts'
import type { RunHead } from '../../domain/run.ts'
import { closed, countOrNone, text } from '../../domain/schemas/parts.ts'
import { isTerminal } from '../../domain/status.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import type { ServedApp } from '../served.ts'
import { pageLimits, readPage } from '../stream/event-page.ts'
import { frameSchema } from '../stream/frame-schema.ts'
import { acceptsStream } from '../stream/streams.ts'
import {
  api,
  feedbackSchema,
  includesPartials,
  iso,
  ok,
  partialsQuery,
  refusals,
  requireRun,
  runParams,
  runSchema,
  runView,
} from './parts.ts'

/** Maximum messages per page, newest first kept; the events have all of them. */
const mostMessages = 200

/** Maximum feedback entries per page; the newest are kept. */
const mostFeedback = 200

const messageSchema = {
  type: 'object',
  required: ['messageId', 'seq', 'at', 'role', 'requestId', 'body'],
  properties: {
    messageId: text,
    seq: { type: 'integer' },
    at: { type: 'string', format: 'date-time' },
    role: { enum: ['agent', 'operator', 'system'] },
    requestId: text,
    nodeId: text,
    /** For an ask: kind, question, value. For a reply: decision, by, note, value. */
    body: { type: 'object' },
  },
} as const

/** `GET runs/:id`: everything that is stored about one run, redacted. */
export const showRun: Route = {
  method: 'GET',
  path: `${api}/runs/:runId`,
  operation: 'showRun',
  summary: 'Get a run with its envelope, plans, nodes, messages and output',
  roles: ['caller', 'operator'],
  params: runParams,
  replies: {
    200: ok('The run', {
      type: 'object',
      required: ['ok', 'run', 'output', 'planVersions', 'latestSnapshot', 'nodes', 'messages', 'feedback'],
      properties: {
        ok: { const: true },
        run: runSchema,
        /** Why the run is paused or quarantined, and how it continues. */
        paused: {
          type: 'object',
          required: ['reason', 'quarantined', 'hint'],
          properties: { reason: text, quarantined: { type: 'boolean' }, hint: text },
        },
        output: { type: ['object', 'null'], properties: { error: errorSchema } },
        planVersions: { type: 'array', items: { type: 'object', required: ['version', 'nodes'] } },
        latestSnapshot: { type: ['object', 'null'] },
        nodes: {
          type: 'array',
          items: {
            type: 'object',
            required: ['nodeId', 'status'],
            properties: { nodeId: text, error: errorSchema },
          },
        },
        messages: { type: 'array', maxItems: mostMessages, items: messageSchema },
        /** The latest feedback of people and checks on earlier work, oldest first. */
        feedback: { type: 'array', items: feedbackSchema },
        /** Whether there are older messages than those shown. */
        olderMessages: { const: true },
      },
    }),
    ...refusals(404),
  },
  async handle({ caller, params }, { app }) {
    const head = await requireRun(app, caller, params['runId'] ?? '')
    const { runId } = head
    const store = app.shown ?? app.store
    const [snapshots, nodes, messages, output, metadata, journal] = await Promise.all([
      store.snapshots(runId),
      store.nodes(runId),
      // One more than the page shows whether there are more.
      store.messages(runId, mostMessages + 1),
      store.output(runId),
      readMetadata(app, runId),
      readJournal(store, runId),
    ])
    const latest = snapshots.at(-1)
    const current = currentNodes(nodes)
    const now = latest && withCurrentNodes(latest, current)
    const facets = now ? readFacets(now) : {}
    const paused = await readPause(app, head)
    const page = {
      ok: true,
      ...(paused && { paused }),
      run: { ...runView(head, app), metadata, envelope: journal.envelope, facets },
      planVersions: toVersions(now ? [...snapshots, now] : [], nodes, head),
      latestSnapshot: now ? { ...snapshotView(now), facets } : null,
      nodes: current.map((row) => ({ ...nodeView(row), ...toProvenance(row, now) })),
      feedback: journal.feedback,
      messages: messages.slice(-mostMessages).map(messageView),
      ...(messages.length > mostMessages && { olderMessages: true }),
    }
    // The redactor preserves the shape. The output keeps secrets that the contract asks for by name.
    const safe = app.redactor.value(page) as { [key: string]: Json }
    return { status: 200, body: { ...safe, output: outputView(output, app) } }
  },
}

/** Returns why a run waits for an operator, and what the operator can do; `undefined` if it does not. */
async function readPause(app: ServedApp, { runId, status }: RunHead): Promise<object | undefined> {
  if (status !== 'awaiting_human' && status !== 'quarantined') return undefined
  const { paused } = await app.state(runId)
  if (paused === undefined) return undefined
  const quarantined = paused.isQuarantine === true
  const cause = quarantined
    ? 'Find out what kept the processes busy during this call: a resumed run makes it again. '
    : ''
  const hint = `${cause}Resume the run with POST ${api}/run.resume, or end it with POST ${api}/runs/${runId}/cancel`
  return { reason: paused.reason, quarantined, hint }
}

/** Reads what only the journal holds: the submitted envelope and the latest feedback. */
async function readJournal(store: Store, runId: string): Promise<{ envelope: Json; feedback: Json[] }> {
  const feedback: Json[] = []
  let envelope: Json = null
  let after = 0
  for (;;) {
    const page = await store.read(runId, after)
    for (const { type, payload, planVersion } of page) {
      // Both are JSON by construction.
      if (type === 'start') envelope = payload.envelope as unknown as Json
      if (type === 'feedback_recorded') feedback.push({ ...payload, planVersion } as unknown as Json)
    }
    const last = page.at(-1)?.seq
    if (last === undefined) return { envelope, feedback: feedback.slice(-mostFeedback) }
    after = last
  }
}

/** Updates the latest snapshot with the node rows: snapshots are only taken when a plan comes or a person is asked. */
function withCurrentNodes(latest: SnapshotRow, nodes: readonly NodeRow[]): SnapshotRow {
  const rows = new Map(nodes.map((row) => [row.nodeId, row]))
  // The snapshot was validated as a plan when it was stored.
  const plan = latest.plan as unknown as PlanView
  return { ...latest, ...measureProgress(plan, (nodeId) => rows.get(nodeId)) }
}

/** Returns who decided last. */
async function readMetadata(app: ServedApp, runId: string): Promise<Json> {
  const asks = await app.store.asks({ runId })
  const [last] = asks
    .filter(({ resolvedAt, by }) => resolvedAt !== undefined && by !== undefined && by !== 'system')
    .sort((one, other) => (other.resolvedAt ?? 0) - (one.resolvedAt ?? 0))
  return last?.by === undefined ? {} : { lastOperator: { displayName: last.by } }
}

/** Returns the facets that a node of the plan in force reads and supplies. */
function toProvenance({ nodeId }: NodeRow, latest: SnapshotRow | undefined): object {
  // The snapshot was validated as a plan when it was stored.
  const plan = latest?.plan as unknown as Pick<Plan, 'nodes'> | undefined
  const provenance = plan?.nodes.find(({ id }) => id === nodeId)?.facetProvenance
  return provenance === undefined ? {} : { provenance }
}

/** Returns the newest snapshot of each plan version, with its node rows. */
function toVersions(
  snapshots: readonly SnapshotRow[],
  nodes: readonly NodeRow[],
  { schemaHash }: RunHead,
): unknown {
  const newest = new Map(snapshots.map((row) => [row.planVersion, row]))
  return [...newest.values()].map((row) => ({
    version: row.planVersion,
    at: iso(row.at),
    pendingNodeIds: row.pendingNodeIds,
    schemaHash,
    metadata: getMember(row.plan, 'metadata') ?? {},
    nodes: nodes.filter(({ planVersion }) => planVersion === row.planVersion).map(nodeView),
  }))
}

function snapshotView({ planVersion, seq, at, pendingNodeIds, plan }: SnapshotRow): { [key: string]: Json } {
  const parts = isObject(plan) ? (plan as { [key: string]: Json }) : {}
  const nodes = Array.isArray(parts['nodes']) && {
    // The snapshot was validated as a plan when it was stored.
    nodes: markInternal(parts['nodes'] as unknown as Plan['nodes']) as unknown as Json,
  }
  return { ...parts, ...nodes, version: planVersion, seq, at: iso(at), pendingNodeIds }
}

function readFacets({ facets }: SnapshotRow): { [name: string]: Json } {
  if (!isObject(facets)) return {}
  return Object.fromEntries(Object.entries(facets).map(([name, value]) => [name, { value: value as Json }]))
}

function nodeView(given: NodeRow): { [key: string]: unknown } {
  const { runId: _, startedAt, endedAt, error, ...row } = given
  return {
    ...row,
    ...(isInternalNode({ ...row, id: row.nodeId }) && { internal: true }),
    ...(error !== undefined && { error: storedError(error) }),
    ...(startedAt !== undefined && { startedAt: iso(startedAt) }),
    ...(endedAt !== undefined && { endedAt: iso(endedAt) }),
  }
}

function messageView({ runId: _, tenant: __, at, ...row }: MessageRow): { [key: string]: Json } {
  return { ...row, at: iso(at) }
}

function outputView(row: OutputRow | undefined, { redactor }: ServedApp): Json {
  if (row === undefined) return null
  const { runId: _, output, error, at, ...rest } = row
  const failed = error !== undefined && { error: storedError(error) }
  const safe = redactor.value({ ...rest, ...failed, at: iso(at) }) as { [key: string]: Json }
  return { ...safe, ...(output !== undefined && { output: redactor.answer(output) as Json }) }
}

function getMember(value: Json, name: string): Json | undefined {
  return isObject(value) ? (own(value, name) as Json | undefined) : undefined
}

/** `GET runs/:id/events`: the journal of a run, as a stream or page by page. */
export const runEvents: Route = {
  method: 'GET',
  path: `${api}/runs/:runId/events`,
  operation: 'runEvents',
  summary: 'Read the events of a run: a stream with "Accept: text/event-stream", else a page of JSON',
  roles: ['caller', 'operator'],
  params: runParams,
  query: closed({
    after: countOrNone,
    /** The last events, as many as this; instead of `after`, for pages. */
    last: { type: 'integer', minimum: 1, maximum: pageLimits.most },
    limit: { type: 'integer', minimum: 1, maximum: pageLimits.most },
    partials: partialsQuery,
  }),
  replies: {
    200: {
      description:
        'Frames, each once and in order. As a stream after `Last-Event-ID` until the run is over; as JSON { events, next }',
      type: 'text/event-stream',
      schema: {
        type: 'object',
        required: ['events'],
        properties: {
          events: { type: 'array', items: frameSchema },
          next: { type: 'integer' },
        },
      },
    },
    204: { description: 'For a stream: the run is over, and the client has received its last event' },
    ...refusals(404),
  },
  async handle({ caller, params, query, headers }, { app }) {
    const head = await requireRun(app, caller, params['runId'] ?? '')
    const { runId, correlationId } = head
    const seen = headers['last-event-id']
    if (seen !== undefined && !/^\d{1,15}$/.test(seen))
      return refusal('request/unreadable', 'Last-Event-ID must be the id of a frame, a whole number', {
        hint: 'Send the id of the last frame you received, or omit the header',
      })
    const after = seen === undefined ? Number(query['after'] ?? 0) : Number(seen)
    // A client that waits there would miss every event before it.
    if (after > head.seq)
      return refusal(
        'request/unreadable',
        `Last-Event-ID must be at most ${head.seq}, the last event of the run, got ${after}`,
        {
          hint: 'Send the id of the last frame you received of this run, or omit the header to start from the first',
        },
      )
    if (acceptsStream(headers['accept']))
      return { stream: 'events', runId, after, until: 'over', partials: includesPartials({ query }) }
    const last = query['last'] === undefined ? undefined : Number(query['last'])
    const limit = Number(query['limit'] ?? last ?? pageLimits.usual)
    const store = app.shown ?? app.store
    const from = last === undefined ? after : Math.max(0, head.seq - last)
    const page = await readPage(store, { runId, correlationId, redactor: app.redactor, after: from, limit })
    // Frames are JSON, because they come from the journal.
    return { status: 200, body: page as unknown as Json }
  },
}

/** `GET runs/:id/output`: the answer of a run as its contract asks for it, with its secrets. All other pages redact it. */
export const showOutput: Route = {
  method: 'GET',
  path: `${api}/runs/:runId/output`,
  operation: 'showOutput',
  summary: 'Get the answer of a completed run, secrets included',
  roles: ['caller', 'operator'],
  params: runParams,
  replies: {
    200: ok('The answer', {
      type: 'object',
      required: ['runId', 'status', 'output'],
      properties: { runId: text, status: { const: 'completed' }, output: true },
    }),
    ...refusals(404, 409),
  },
  async handle({ caller, params }, { app }) {
    const { runId, status } = await requireRun(app, caller, params['runId'] ?? '')
    const row = await app.store.output(runId)
    if (status !== 'completed' || row?.output === undefined)
      throw new ProvisoError('run/state', `Run "${runId}" has no answer: it is ${status}`, {
        hint: isTerminal(status)
          ? `Read why with GET ${api}/runs/${runId}`
          : `Follow it with GET ${api}/runs/${runId}/events`,
      })
    return { status: 200, body: { runId, status, output: row.output } }
  },
}
