/**
 * Defines a route as data. The router, authorisation, OpenAPI and the tests that enumerate all routes read the same
 * definition. A route must name its roles, and only routes in the table are served.
 */
import type { Json } from '../base/json.ts'
import type { Role } from '../domain/ports/records.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Refusal } from './problem.ts'
import type { Served } from './served.ts'

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With `:name` for parameters, such as `/api/v1/flex/runs/:runId`. */
  readonly path: string
  /** Its name in OpenAPI and in the generated client. */
  readonly operation: string
  readonly summary: string
  /** Allowed roles; admins are always allowed. `anyone`: no token needed. */
  readonly roles: readonly Role[] | 'anyone'
  /** Object schemas; requests that do not match are refused with located issues before `handle` is called. */
  readonly params?: JsonSchema
  readonly query?: JsonSchema
  readonly body?: JsonSchema
  readonly replies: { readonly [status: number]: ReplyShape }
  /** Honours `Idempotency-Key`: the same key and body return the first response. */
  readonly idempotent?: boolean
  readonly deprecated?: boolean
  /** Starts a run, so the tenant's run quota applies. */
  readonly startsRun?: boolean
  /** Controls or observes what exists already: admitted even if the server is overloaded. */
  readonly isControl?: boolean
  /** Takes as long as a model or the size of the store demands: the deadline of requests does not apply. */
  readonly takesLong?: boolean
  /**
   * Authenticates by its body: calls that are refused for it count as refused tokens of the address, and beyond that rate
   * the body is not read.
   */
  readonly countsFailures?: boolean
  /** Registers an agent, so the rate of registrations applies. */
  readonly registers?: boolean
  /** Maximum body size in bytes, instead of the server's default. */
  readonly bodyLimit?: number
  /**
   * Checks the head of a request before its body is read, for routes that authenticate without a token. Requests are
   * limited per address, and after repeated refusals of the same URL its bodies are no longer read.
   */
  checkHead?(head: CallHead, served: Served): Promise<Refusal | undefined>
  handle(call: Call, served: Served): Promise<Answer | Refusal>
}

export interface ReplyShape {
  readonly description: string
  /** Absent: no body. For a stream: the schema of the JSON alternative, if there is one. */
  readonly schema?: JsonSchema
  /** Default `application/json`. */
  readonly type?: 'application/json' | 'text/event-stream' | 'text/plain'
}

/** The caller, as identified by the token. */
export interface Caller {
  readonly tenant: string
  readonly role: Role
  readonly tokenId: string
  readonly name: string
  /** Restricts an agent's token to this capability. */
  readonly capabilityId?: string
  /** The first token of a series of rotations, which owns what the series made; absent for that token itself. */
  readonly familyId?: string
  /** Roles of the person for tasks. */
  readonly taskRoles?: readonly string[]
}

/** What is known of a request before its body is read. */
export interface CallHead {
  readonly params: Call['params']
  readonly headers: Call['headers']
}

/** An authorised request with validated parts. */
export interface Call {
  /** For routes that need no token, the anonymous caller: tenant `default`, no rights. */
  readonly caller: Caller
  readonly params: { readonly [name: string]: string }
  readonly query: { readonly [name: string]: Json }
  readonly body: Json
  /** Header names are in lower case. */
  readonly headers: { readonly [name: string]: string | undefined }
  /** Address of the client. */
  readonly address: string
  /** Trace id of this call: from `traceparent`, or new. Every error response includes it. */
  readonly traceId: string
  /** The unparsed body, for checking signatures. */
  readonly rawBody: Uint8Array
  /** Aborts when the connection closes or the server stops. Runs continue regardless. */
  readonly signal: AbortSignal
  /** Reports that the run is accepted: what follows, such as waiting for its end, does not count as handling. */
  readonly onAccepted: () => void
  /** With an `Idempotency-Key`: a stable id for the same key and request, so that resources named by it are created once. */
  readonly onceId?: string
}

/** A body, or a stream of a run's events: a cursor on the journal. */
export type Answer =
  | {
      readonly status: number
      readonly body?: Json
      readonly headers?: { readonly [name: string]: string }
    }
  | EventStream

export interface EventStream {
  readonly stream: 'events'
  readonly runId: string
  /** Events after this sequence number. */
  readonly after: number
  /** `over`: until the run ends. `waits`: also stops when the run waits for a person. */
  readonly until: 'over' | 'waits'
  /** Sends partial values too. */
  readonly partials?: boolean
  /** Passed when it is known without reading the store. */
  readonly correlationId?: string
  readonly headers?: { readonly [name: string]: string }
}

/** Finds the methods that a path supports, for the `Allow` header of a 405 response. */
export function createMethodLookup(routes: readonly Route[]): (path: string) => readonly string[] {
  const patterns = routes.map(({ method, path }) => ({ method, pattern: toPattern(path) }))
  return (path) => patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
}

/** Route paths consist of letters, dots and slashes, with `:name` for parameters. */
function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`)
}
