/** `POST run.resume`: resumes a paused run, or answers what a node waits for, and streams the events that follow. */
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import type { AskRow } from '../../domain/ports/store.ts'
import type { RunHead } from '../../domain/run.ts'
import { anyText, closed, countOrNone, text } from '../../domain/schemas/parts.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Call, Route } from '../route.ts'
import type { ServedApp } from '../served.ts'
import {
  api,
  eventStream,
  includesPartials,
  partialsQuery,
  refusals,
  requireRun,
  signature,
  toPerson,
} from './parts.ts'

export const runResume: Route = {
  method: 'POST',
  path: `${api}/run.resume`,
  operation: 'runResume',
  isControl: true,
  summary: 'Resume a paused run, or answer what a node waits for, and stream its events',
  roles: ['operator'],
  query: closed({ partials: partialsQuery }),
  body: closed(
    {
      runId: text,
      expectedPlanVersion: countOrNone,
      /** The person on whose behalf the caller acts; kept in the note. */
      operator: { anyOf: [text, { type: 'object', properties: { displayName: text } }] },
      note: anyText,
      correlationId: text,
      /** For a node that waits for a person: its output, or a decline. */
      payload: closed({ nodeId: text, output: true, decline: closed({ reason: anyText, note: anyText }) }, [
        'nodeId',
      ]),
    },
    ['runId'],
  ),
  replies: { 200: eventStream, ...refusals(404, 409, 413, 415, 422) },
  idempotent: true,
  async handle(call, { app }) {
    // Validated by the route's schema.
    const body = call.body as unknown as ResumeBody
    const { runId } = body
    const head = await requireRun(app, call.caller, runId)
    const partials = includesPartials(call)
    const resume = () => resumeRun(app, call, { head, body })
    const refused = await (partials ? app.keepPartials(runId, resume) : resume())
    if (refused) return refused
    return {
      stream: 'events',
      runId,
      after: head.seq,
      until: 'waits',
      partials,
      headers: { 'proviso-run-id': runId },
    }
  },
}

async function resumeRun(
  app: ServedApp,
  call: Call,
  { head, body }: { readonly head: RunHead; readonly body: ResumeBody },
): Promise<Refusal | undefined> {
  const { runId, expectedPlanVersion, payload } = body
  if (payload !== undefined) return answerNode(app, call, { head, body, payload })
  const note = formatNote(body)
  await app.resume(runId, {
    by: signature(call.caller),
    ...(note !== undefined && { note }),
    ...(expectedPlanVersion !== undefined && { expectedPlanVersion }),
  })
  return undefined
}

interface ResumeBody {
  readonly runId: string
  readonly expectedPlanVersion?: number
  readonly operator?: unknown
  readonly note?: string
  readonly payload?: Payload
}

interface Payload {
  readonly nodeId: string
  readonly output?: Json
  readonly decline?: { readonly reason?: string; readonly note?: string }
}

/**
 * Answers the open ask of a node; the older form of `hitl/resolve`. It needs no value hash: an output replaces the value
 * that was shown, and a decline approves nothing. Approving a value is only possible with `hitl/resolve`.
 */
async function answerNode(
  app: ServedApp,
  { caller }: Call,
  { head, body, payload }: { readonly head: RunHead; readonly body: ResumeBody; readonly payload: Payload },
): Promise<Refusal | undefined> {
  const { output, decline } = payload
  if ((output === undefined) === (decline === undefined)) {
    const message = 'the body: payload must have either output or decline'
    const issue = { code: 'request/payload', at: { pointer: '/payload' }, message }
    const hint = 'Send the output of the node, or decline with a reason'
    return refusal('request/invalid', message, { hint, issues: [{ ...issue, hint }] })
  }
  const { expectedPlanVersion = head.planVersion } = body
  if (expectedPlanVersion !== head.planVersion)
    throw new ProvisoError(
      'plan/stale-version',
      `Cannot resume the run: its plan version is ${head.planVersion}, not ${expectedPlanVersion}`,
    )
  const { requestId, valueHash, decisions, rejectActions } = await findAsk(app, head, payload.nodeId)
  const note = formatNote(body)
  const given = decisions.includes('answer') ? 'answer' : 'edit'
  await app.reply(head.runId, {
    requestId,
    valueHash,
    ...toPerson(caller),
    decision: output === undefined ? 'reject' : given,
    ...(output !== undefined && { value: output }),
    // A decline means that there is no output, also where a rejection would run the node again.
    ...(output === undefined && rejectActions && { rejectAction: 'fail' as const }),
    ...(note !== undefined && { note }),
  })
  return undefined
}

/** Maximum number of open asks in one run. */
const mostAsks = 1_000

async function findAsk(app: ServedApp, { runId, status }: RunHead, nodeId: string): Promise<AskRow> {
  const waiting = await app.store.asks({ runId, status: 'pending', limit: mostAsks })
  const [ask, ...others] = waiting.filter((each) => each.nodeId === nodeId)
  if (ask !== undefined && others.length === 0) return ask
  const hint = `List open asks with GET ${api}/hitl?runId=${encodeURIComponent(runId)} and answer with hitl/resolve`
  const message =
    ask === undefined
      ? `Node "${nodeId}" has no open ask: the run is ${status}`
      : `Node "${nodeId}" has several open asks`
  throw new ProvisoError('run/state', message, { hint })
}

/** Formats the note: on whose behalf, the reason, and the caller's note. */
function formatNote({ operator, note, payload }: ResumeBody): string | undefined {
  const { reason, note: declined } = payload?.decline ?? {}
  const said = [readName(operator), reason, declined, note].filter(
    (part) => part !== undefined && part !== '',
  )
  return said.length === 0 ? undefined : said.join(': ')
}

function readName(operator: unknown): string | undefined {
  if (typeof operator === 'string') return `for ${operator}`
  const name = isObject(operator) ? own(operator, 'displayName') : undefined
  return typeof name === 'string' ? `for ${name}` : undefined
}
