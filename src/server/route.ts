/**
 * A route as data: read by the router, by the check of rights, by OpenAPI and by the tests that enumerate all of them. A
 * route that is not in the table does not exist, and one without roles cannot be written.
 */
import type { Json } from '../base/json.ts'
import type { Role } from '../domain/ports/records.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import type { Refusal } from './problem.ts'
import type { Served } from './served.ts'

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With `:name` for what varies, such as `/api/v1/flex/runs/:runId`. */
  readonly path: string
  /** Its name in OpenAPI and in the generated client. */
  readonly operation: string
  readonly summary: string
  /** Who may; an admin always may. `anyone`: without a token. */
  readonly roles: readonly Role[] | 'anyone'
  /** Objects; what does not satisfy them is refused with located issues before `handle` is called. */
  readonly params?: JsonSchema
  readonly query?: JsonSchema
  readonly body?: JsonSchema
  readonly replies: { readonly [status: number]: ReplyShape }
  /** An `Idempotency-Key` is honoured: the same key and body get the first answer again. */
  readonly idempotent?: boolean
  readonly deprecated?: boolean
  /** It begins a run: the tenant must have a place for one more. */
  readonly startsRun?: boolean
  /** The longest body in bytes, where the server's own limit does not fit. */
  readonly bodyLimit?: number
  handle(call: Call, served: Served): Promise<Answer | Refusal>
}

export interface ReplyShape {
  readonly description: string
  /** Absent: there is no body. For a stream: the same as JSON, where a caller may have that instead. */
  readonly schema?: JsonSchema
  /** Default `application/json`. */
  readonly type?: 'application/json' | 'text/event-stream' | 'text/plain'
}

/** Who calls, as the token says. */
export interface Caller {
  readonly tenant: string
  readonly role: Role
  readonly tokenId: string
  readonly name: string
  /** An agent's token is good for this capability alone. */
  readonly capabilityId?: string
}

/** A request whose caller may make it and whose parts have the shapes that the route names. */
export interface Call {
  /** For routes that anyone may use, the open caller: tenant `default`, no rights. */
  readonly caller: Caller
  readonly params: { readonly [name: string]: string }
  readonly query: { readonly [name: string]: Json }
  readonly body: Json
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string | undefined }
  /** The trace that this call belongs to: from `traceparent`, or new. Stands in every error. */
  readonly traceId: string
  /** The body as it came, where a signature has to be checked. */
  readonly rawBody: Uint8Array
  /** The connection is gone, or the server stops. Runs do not care. */
  readonly signal: AbortSignal
  /** With an `Idempotency-Key`: the same text for the same key and request, so that what is named by it is made once. */
  readonly onceId?: string
}

/** A body, or a run's events as a stream that is only ever a cursor on the store. */
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
  /** `over`: until the run is over. `waits`: also when it waits for a person. */
  readonly until: 'over' | 'waits'
  /** Where it is known without asking the store. */
  readonly correlationId?: string
  readonly headers?: { readonly [name: string]: string }
}
