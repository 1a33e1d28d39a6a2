/** `POST run.resume`: lets a paused run go on, or gives a node what it waits for, and streams what follows. */
import { ProvisoError } from '../../base/error.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import type { AskRow } from '../../domain/ports/store.ts'
import type { RunHead } from '../../domain/run.ts'
import { anyText, closed, countOrNone, text } from '../../domain/schemas/parts.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Call, Route } from '../route.ts'
import type { ServedApp } from '../served.ts'
import { api, eventStream, refusals, requireRun, signature } from './parts.ts'

export const runResume: Route = {
  method: 'POST',
  path: `${api}/run.resume`,
  operation: 'runResume',
  summary: 'Let a paused run go on, or give a node what it waits for, and stream what follows',
  roles: ['operator'],
  body: closed(
    {
      runId: text,
      expectedPlanVersion: countOrNone,
      /** For whom the holder of the token acts; kept in the note. */
      operator: { anyOf: [text, { type: 'object', properties: { displayName: text } }] },
      note: anyText,
      correlationId: text,
      /** For a node that waits for a person: its output, or that there will be none. */
      payload: closed({ nodeId: text, output: true, decline: closed({ reason: anyText, note: anyText }) }, [
        'nodeId',
      ]),
    },
    ['runId'],
  ),
  replies: { 200: eventStream, ...refusals(404, 409, 413, 415, 422) },
  idempotent: true,
  async handle(call, { app }) {
    // The route's schema has said so.
    const body = call.body as unknown as ResumeBody
    const { runId, expectedPlanVersion, payload } = body
    const head = await requireRun(app, call.caller, runId)
    if (payload === undefined) {
      const note = noteOf(body)
      await app.resume(runId, {
        by: signature(call.caller),
        ...(note !== undefined && { note }),
        ...(expectedPlanVersion !== undefined && { expectedPlanVersion }),
      })
    } else {
      const refused = await answerNode(app, call, { head, body, payload })
      if (refused) return refused
    }
    return { stream: 'events', runId, after: head.seq, until: 'waits', headers: { 'proviso-run-id': runId } }
  },
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
 * The older way to answer what a node asks. It names no hash, and needs none: an output stands in place of what was shown,
 * and a refusal approves nothing; approving what somebody has not seen is only possible with `hitl/resolve`.
 */
async function answerNode(
  app: ServedApp,
  { caller }: Call,
  { head, body, payload }: { readonly head: RunHead; readonly body: ResumeBody; readonly payload: Payload },
): Promise<Refusal | undefined> {
  const { output, decline } = payload
  if ((output === undefined) === (decline === undefined)) {
    const message = 'the body: payload takes either output or decline'
    const issue = { code: 'request/payload', at: { pointer: '/payload' }, message }
    const hint = 'Send the output of the node, or decline with a reason'
    return refusal('request/invalid', message, { hint, issues: [{ ...issue, hint }] })
  }
  const { expectedPlanVersion = head.planVersion } = body
  if (expectedPlanVersion !== head.planVersion)
    throw new ProvisoError(
      'plan/stale-version',
      `The run has plan version ${head.planVersion}, not ${expectedPlanVersion}`,
    )
  const { requestId, valueHash, decisions, rejectActions } = await askOf(app, head, payload.nodeId)
  const note = noteOf(body)
  const gives = decisions.includes('answer') ? 'answer' : 'edit'
  await app.reply(head.runId, {
    requestId,
    valueHash,
    by: signature(caller),
    decision: output === undefined ? 'reject' : gives,
    ...(output !== undefined && { value: output }),
    // Whoever declines says that there will be no output, also where a rejection would run the node again.
    ...(output === undefined && rejectActions && { rejectAction: 'fail' as const }),
    ...(note !== undefined && { note }),
  })
  return undefined
}

/** More cannot wait in one run. */
const mostAsks = 1_000

async function askOf(app: ServedApp, { runId, status }: RunHead, nodeId: string): Promise<AskRow> {
  const waiting = await app.store.asks({ runId, status: 'pending', limit: mostAsks })
  const [ask, ...others] = waiting.filter((each) => each.nodeId === nodeId)
  if (ask !== undefined && others.length === 0) return ask
  const hint = `GET ${api}/hitl?runId=${encodeURIComponent(runId)} lists what waits; answer with hitl/resolve`
  const message =
    ask === undefined
      ? `Nothing is asked about a node "${nodeId}" of this run, which is ${status}`
      : `Several questions about the node "${nodeId}" are open`
  throw new ProvisoError('run/state', message, { hint })
}

/** Who was meant, why, and what was said besides. */
function noteOf({ operator, note, payload }: ResumeBody): string | undefined {
  const { reason, note: declined } = payload?.decline ?? {}
  const said = [nameOf(operator), reason, declined, note].filter((part) => part !== undefined && part !== '')
  return said.length === 0 ? undefined : said.join(': ')
}

function nameOf(operator: unknown): string | undefined {
  if (typeof operator === 'string') return `for ${operator}`
  const name = isObject(operator) ? own(operator, 'displayName') : undefined
  return typeof name === 'string' ? `for ${name}` : undefined
}
