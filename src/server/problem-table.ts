/** Maps each error code to its HTTP status and title, with hints for the errors that the server itself raises. */
import type { ErrorCode } from '../base/errors/error.ts'

/** Status and title of an error code. */
export interface ProblemRow {
  readonly status: number
  readonly title: string
}

/** Errors raised by the server itself. */
export const refusalTable = {
  'auth/missing': {
    status: 401,
    title: 'Authentication required',
    hint: 'Send the header "Authorization: Bearer pvs_…"; create a token with `proviso token create`',
  },
  'auth/invalid': {
    status: 401,
    title: 'Invalid token',
    hint: 'Create a new token with `proviso token create`',
  },
  'auth/unavailable': {
    status: 503,
    title: 'The identity provider is not available',
    hint: 'Retry after the number of seconds in Retry-After',
  },
  'auth/forbidden': {
    status: 403,
    title: 'Forbidden for this role',
    hint: 'Use a token with a role that this route allows',
  },
  'auth/host': {
    status: 421,
    title: 'Development mode answers on loopback names only',
    hint: 'Use a loopback name such as localhost, or start the server with tokens',
  },
  'auth/origin': {
    status: 403,
    title: 'Development mode refuses requests of other web pages',
    hint: 'Add the origin of the page to the setting `cors` (PROVISO_CORS), or start the server with tokens',
  },
  'route/missing': {
    status: 404,
    title: 'Not found',
    hint: 'See GET /openapi.json for all routes, and check the ids in the path',
  },
  'request/method': {
    status: 405,
    title: 'Method not allowed',
    hint: 'Use one of the methods in the Allow header',
  },
  'request/unreadable': {
    status: 400,
    title: 'Cannot read the request',
    hint: 'Correct the request as described; GET /openapi.json documents each route',
  },
  'request/invalid': {
    status: 422,
    title: 'The request does not match the schema',
    hint: 'See `issues` for each location and reason; GET /openapi.json has the schema',
  },
  'request/too-large': {
    status: 413,
    title: 'The body is too large',
    hint: 'Send a smaller body, or ask the operator to raise `limits.bodyBytes`',
  },
  'request/media-type': {
    status: 415,
    title: 'The body must be JSON',
    hint: 'Send the header "Content-Type: application/json"',
  },
  'request/encoding': {
    status: 415,
    title: 'The body must not be compressed',
    hint: 'Send the body as plain JSON, without the header Content-Encoding',
  },
  'request/timeout': {
    status: 408,
    title: 'Request timeout',
    hint: 'Send the request again over a faster connection',
  },
  'idempotency/other-body': {
    status: 422,
    title: 'The Idempotency-Key was used with another request',
    hint: 'Use a new key for a new request',
  },
  'idempotency/in-flight': {
    status: 409,
    title: 'The first request with this Idempotency-Key is still in progress',
    hint: 'Retry in a second',
  },
  'rate/limit': {
    status: 429,
    title: 'Too many requests',
    hint: 'Retry after the number of seconds in Retry-After',
  },
  'quota/runs': {
    status: 429,
    title: 'Too many active runs',
    hint: 'Wait until some runs end, cancel them, or ask the operator to raise `server.max_runs`',
  },
  'quota/streams': {
    status: 429,
    title: 'Too many open streams of the tenant',
    hint: 'Close streams, read the events page by page, or ask the operator to raise `server.tenant_streams`',
  },
  'quota/storage': {
    status: 429,
    title: 'The tenant has stored too much',
    hint: 'Erase runs with `POST /api/v1/flex/erase`, or ask the operator to delete old runs (settings `[retention]`, or `proviso prune`) or to raise `quota.stored_chars`',
  },
  'quota/tokens': {
    status: 429,
    title: 'The tenant has used its tokens',
    hint: 'Wait until earlier use is older than 24 hours, or ask the operator to raise `quota.daily_tokens`',
  },
  'quota/spend': {
    status: 429,
    title: 'The tenant has spent its budget',
    hint: 'Wait until earlier use is older than 24 hours, or ask the operator to raise `quota.daily_usd`',
  },
  'overload/queue': {
    status: 429,
    title: 'Too many requests of the tenant are waiting',
    hint: 'Retry after the number of seconds in Retry-After, with fewer requests at once',
  },
  'overload/server': {
    status: 503,
    title: 'The server is overloaded',
    hint: 'Retry after the number of seconds in Retry-After',
  },
  'server/streams': {
    status: 503,
    title: 'Too many open streams',
    hint: 'Retry later, or read the events page by page',
  },
  'server/stopping': {
    status: 503,
    title: 'The server is shutting down',
    hint: 'Retry in a second: another server may have taken over',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    hint: 'Report the traceId to the operator: the server log has the cause under it',
  },
} as const satisfies Record<string, ProblemRow & { readonly hint: string }>

/** Errors raised by the other modules. */
export const errorStatus: Readonly<Record<ErrorCode, ProblemRow>> = {
  'schema/invalid': { status: 422, title: 'Invalid schema' },
  'schema/limit': { status: 422, title: 'The schema exceeds a limit' },
  'json/unrepresentable': { status: 422, title: 'The value is not plain JSON' },
  'output/invalid': { status: 422, title: 'The value does not satisfy the schema' },
  'option/invalid': { status: 422, title: 'Invalid option' },
  'pool/full': { status: 503, title: 'Too many values to parse at once' },
  'pool/closed': { status: 503, title: 'The server is shutting down' },
  'pool/broken': { status: 500, title: 'Internal error' },
  'envelope/invalid': { status: 422, title: 'Invalid envelope' },
  'capability/missing': { status: 409, title: 'The run needs a capability that is missing here' },
  'draft/invalid': { status: 422, title: 'Invalid draft' },
  'run/missing': { status: 404, title: 'Run not found' },
  'memory/missing': { status: 404, title: 'Not found' },
  'thread/missing': { status: 404, title: 'Not found' },
  'thread/busy': { status: 409, title: 'A run of the thread is not over' },
  'schedule/invalid': { status: 422, title: 'The schedule is not valid' },
  'schedule/unknown': { status: 404, title: 'Not found' },
  'schedule/taken': { status: 409, title: 'The schedule exists' },
  'schedule/limit': { status: 409, title: 'The tenant has too many schedules' },
  'schedule/secret': { status: 422, title: 'The schedule holds a secret' },
  'run/exists': { status: 409, title: 'The run already exists' },
  'run/failed': { status: 409, title: 'The run has failed' },
  'run/cancelled': { status: 409, title: 'The run was cancelled' },
  'run/waiting': { status: 409, title: 'The run waits for a person' },
  'run/state': { status: 409, title: 'Conflicts with the current status of the run' },
  'run/crashed': { status: 500, title: 'The run crashed in this process' },
  'run/busy': { status: 503, title: 'Too many concurrent writes to the run' },
  'plan/stale-version': { status: 409, title: 'The run has a newer plan' },
  'policy/unknown': { status: 404, title: 'Policy not found' },
  'ask/unknown': { status: 404, title: 'Ask not found' },
  'ask/resolved': { status: 409, title: 'The ask is already resolved' },
  'ask/expired': { status: 409, title: 'The ask has expired' },
  'ask/stale': { status: 409, title: 'The reply refers to another value' },
  'task/claimed': { status: 409, title: 'Another person holds the task' },
  'task/forbidden': { status: 403, title: 'The task is for other people' },
  'ask/invalid': { status: 422, title: 'Invalid reply' },
  'capability/refused': { status: 422, title: 'The capability refused the inputs' },
  'capability/unclear': { status: 422, title: 'The capability needs more information' },
  'capability/invalid': { status: 422, title: 'Invalid registration' },
  'capability/taken': { status: 409, title: 'The capability id is taken' },
  'capability/limit': { status: 429, title: 'The tenant has too many registrations' },
  'capability/unregistered': { status: 404, title: 'Registration not found' },
  'capability/forbidden': { status: 403, title: 'The token is not valid for this capability' },
  'capability/secret-key': {
    status: 409,
    title: 'The server cannot encrypt or decrypt the secrets of agents',
  },
  'callback/unknown': { status: 404, title: 'Call not found' },
  'callback/forged': { status: 401, title: 'Invalid signature' },
  'callback/replayed': { status: 409, title: 'The nonce was already used' },
  'callback/settled': { status: 409, title: 'The attempt is over' },
  'agents/off': { status: 404, title: 'Agents over HTTP are disabled on this server' },
  'facet/invalid': { status: 422, title: 'The facet is not valid' },
  'facet/taken': { status: 409, title: 'The facet is defined in another way' },
  'facet/unknown': { status: 404, title: 'Not found' },
  'facet/in-use': { status: 409, title: 'The facet is in use' },
  'facet/limit': { status: 409, title: 'The tenant has too many facets' },
  'webhook/off': { status: 404, title: 'Webhooks are disabled on this server' },
  'webhook/invalid': { status: 422, title: 'The webhook is not valid' },
  'webhook/unknown': { status: 404, title: 'Not found' },
  'webhook/limit': { status: 409, title: 'The tenant has too many webhooks' },
  'mcp/unavailable': { status: 503, title: 'The MCP server cannot be reached' },
  'engine/closed': { status: 503, title: 'The server is shutting down' },
  'store/locked': { status: 503, title: 'The store is not available' },
  'store/newer': { status: 503, title: 'The store is not available' },
  'planner/refused': { status: 422, title: 'The planner model refused to draft' },
  'planner/throttled': { status: 503, title: 'The planner model is throttled' },
  'planner/unavailable': { status: 503, title: 'The planner model is not available' },
  'queue/unavailable': { status: 503, title: 'The queue is not available' },
  'store/unavailable': { status: 503, title: 'The store is not available' },
  'store/replaced': {
    status: 503,
    title: 'A file of the database was deleted, replaced or overwritten while it was open',
  },
  'store/lost': { status: 503, title: 'The database has lost acknowledged commits' },
  'store/corrupt': { status: 503, title: 'The database is damaged' },
  'store/closed': { status: 503, title: 'The server is shutting down' },
  'stream/full': { status: 503, title: 'Too many open streams' },
  aborted: { status: 503, title: 'The request was aborted' },
}

export type RefusalCode = keyof typeof refusalTable

/** Codes of the issues that the server itself reports; the others are those of the parsers and of the catalog. */
export const requestIssueTable = {
  'request/json': 'the body is not JSON',
  'request/body': 'the route takes no body',
  'request/resume': 'the members of the body do not fit together',
  'request/payload': 'the payload does not fit the ask',
  'capability/inactive': 'warning: the capability is registered and not active',
  'capability/wire': 'the registration cannot be used over HTTP',
} as const satisfies Record<string, string>
