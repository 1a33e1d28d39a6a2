/** Which status and title each code has on the wire, and what to do about what the server itself refuses. */
import type { ErrorCode } from '../base/error.ts'

/** How a code leaves. */
export interface ProblemRow {
  readonly status: number
  readonly title: string
}

/** What the server itself refuses. */
export const refusalTable = {
  'auth/missing': {
    status: 401,
    title: 'A token is needed',
    hint: 'Send the header "Authorization: Bearer pvs_…"; `proviso token create` makes a token',
  },
  'auth/invalid': {
    status: 401,
    title: 'The token is not valid',
    hint: 'Ask for a new token: `proviso token create`',
  },
  'auth/forbidden': {
    status: 403,
    title: 'The token does not allow this',
    hint: 'Use a token whose role may do this',
  },
  'auth/host': {
    status: 421,
    title: 'Development mode answers on loopback names only',
    hint: 'Call it by a loopback name, or start the server with tokens',
  },
  'route/missing': {
    status: 404,
    title: 'There is nothing here',
    hint: 'GET /openapi.json lists every route; check the ids in the path',
  },
  'request/method': {
    status: 405,
    title: 'The method is not allowed here',
    hint: 'Use one of the methods that the header Allow names',
  },
  'request/unreadable': {
    status: 400,
    title: 'The request cannot be read',
    hint: 'Correct what is named; GET /openapi.json says what each route takes',
  },
  'request/invalid': {
    status: 422,
    title: 'The request does not have the form that is asked for',
    hint: 'Look at the issues: each says where and why; GET /openapi.json has the schema',
  },
  'request/too-large': {
    status: 413,
    title: 'The body is too large',
    hint: 'Send less, or ask the operator for a higher limit',
  },
  'request/media-type': {
    status: 415,
    title: 'The body must be JSON',
    hint: 'Send the header "Content-Type: application/json"',
  },
  'request/timeout': {
    status: 408,
    title: 'The request took too long to arrive',
    hint: 'Send the request again over a connection that is fast enough',
  },
  'idempotency/other-body': {
    status: 422,
    title: 'The Idempotency-Key was used with another request',
    hint: 'Use a new key for a new request',
  },
  'idempotency/in-flight': {
    status: 409,
    title: 'The first request with this Idempotency-Key is still going on',
    hint: 'Try again in a moment',
  },
  'rate/limit': {
    status: 429,
    title: 'Too many requests',
    hint: 'Try again after the seconds that Retry-After names',
  },
  'quota/runs': {
    status: 429,
    title: 'Too many runs at once',
    hint: 'Wait until some have ended, or cancel them',
  },
  'server/streams': {
    status: 503,
    title: 'Too many open streams',
    hint: 'Try again later, or read the events page by page',
  },
  'server/stopping': {
    status: 503,
    title: 'The server is shutting down',
    hint: 'Try again in a moment: another one may have taken over',
  },
  internal: {
    status: 500,
    title: 'Something went wrong here',
    hint: 'Tell the operator the traceId: the log of the server has the cause under it',
  },
} as const satisfies Record<string, ProblemRow & { readonly hint: string }>

/** What comes of the errors of the rooms below. */
export const errorStatus: Readonly<Record<ErrorCode, ProblemRow>> = {
  'schema/invalid': { status: 422, title: 'The schema cannot be used' },
  'schema/limit': { status: 422, title: 'The schema is beyond a limit' },
  'json/unrepresentable': { status: 422, title: 'The value is not plain JSON' },
  'output/invalid': { status: 422, title: 'The value does not satisfy the schema' },
  'option/invalid': { status: 422, title: 'A setting of the request cannot be used' },
  'pool/full': { status: 503, title: 'Too much to read at once' },
  'pool/closed': { status: 503, title: 'The server is shutting down' },
  'pool/broken': { status: 500, title: 'Something went wrong here' },
  'envelope/invalid': { status: 422, title: 'The envelope cannot be used' },
  'capability/missing': { status: 409, title: 'A capability that the run needs is missing here' },
  'draft/invalid': { status: 422, title: 'The draft cannot be used' },
  'run/missing': { status: 404, title: 'There is no such run' },
  'run/exists': { status: 409, title: 'There is such a run already' },
  'run/state': { status: 409, title: 'The run does not stand so that this could be done' },
  'run/crashed': { status: 500, title: 'The run could not go on in this process' },
  'run/busy': { status: 503, title: 'Others write to the run all the time' },
  'plan/stale-version': { status: 409, title: 'The run has a newer plan' },
  'policy/unknown': { status: 404, title: 'There is no such policy' },
  'ask/unknown': { status: 404, title: 'There is no such ask' },
  'ask/resolved': { status: 409, title: 'The ask has been answered' },
  'ask/expired': { status: 409, title: 'The ask has expired' },
  'ask/stale': { status: 409, title: 'The reply is about another value' },
  'ask/invalid': { status: 422, title: 'The reply cannot be used' },
  'capability/refused': { status: 422, title: 'The capability refuses what it is given' },
  'capability/unclear': { status: 422, title: 'The capability needs an answer first' },
  'capability/invalid': { status: 422, title: 'The registration cannot be used' },
  'capability/taken': { status: 409, title: 'The name is taken' },
  'capability/limit': { status: 429, title: 'The tenant has too many registrations' },
  'capability/unregistered': { status: 404, title: 'There is no such registration' },
  'capability/forbidden': { status: 403, title: 'The token is not for this capability' },
  'capability/secret-key': { status: 409, title: 'The server cannot keep or read secrets of agents' },
  'callback/unknown': { status: 404, title: 'There is no such call' },
  'callback/forged': { status: 401, title: 'The signature is not valid' },
  'callback/replayed': { status: 409, title: 'The nonce was used before' },
  'callback/settled': { status: 409, title: 'The attempt is over' },
  'agents/off': { status: 404, title: 'This server works with no agents over HTTP' },
  'engine/closed': { status: 503, title: 'The server is shutting down' },
  'store/locked': { status: 503, title: 'The store is not available' },
  'store/newer': { status: 503, title: 'The store is not available' },
  'planner/refused': { status: 422, title: 'The planner model refused to draft' },
  'planner/unavailable': { status: 503, title: 'The planner model is not available' },
  'store/unavailable': { status: 503, title: 'The store is not available' },
  'store/corrupt': { status: 500, title: 'Something went wrong here' },
  'store/closed': { status: 503, title: 'The server is shutting down' },
  'stream/full': { status: 503, title: 'Too many open streams' },
  aborted: { status: 503, title: 'The request was given up' },
}

export type RefusalCode = keyof typeof refusalTable
