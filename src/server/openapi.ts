/** Generates the OpenAPI 3.1 document from the route table. It is a pure function, so that the document matches what is served. */
import { isObject, type Json, own } from '../base/json.ts'
import { errorSchema } from '../domain/errors/error-envelope.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { problemSchema, problemType } from './problem.ts'
import type { ReplyShape, Route } from './route.ts'
import { frameSchema, partialFrameSchema } from './stream/frame-schema.ts'

type Part = { readonly [key: string]: Json }

interface OpenApiOptions {
  /** Version of the server. */
  readonly version: string
}

export function openApiDocument(routes: readonly Route[], { version }: OpenApiOptions): Part {
  const paths: { [path: string]: { [method: string]: Json } } = {}
  for (const route of routes) {
    const path = toTemplate(route.path)
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: toOperation(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Proviso',
      version,
      description: 'Runs AI agents under contract: envelopes in, JSON that satisfies the contract out.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: {
        Problem: json(problemSchema),
        Error: json(errorSchema),
        Frame: json(frameSchema),
        PartialFrame: json(partialFrameSchema),
      },
      parameters: { traceparent, idempotencyKey, lastEventId },
      responses: { Refused: { description: 'Any other error', content: problemContent } },
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token created with `proviso token create`',
        },
      },
    },
  }
}

/** `/runs/:runId` becomes `/runs/{runId}`. */
function toTemplate(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}')
}

function toOperation(route: Route): Part {
  const { operation, summary, roles, body, replies, deprecated } = route
  return {
    operationId: operation,
    summary,
    tags: [toTag(route.path)],
    ...(deprecated && { deprecated }),
    // OpenAPI 3.1 allows roles in a security requirement.
    security: roles === 'anyone' ? [] : [{ bearer: [...new Set([...roles, 'admin'])] }],
    parameters: toParameters(route),
    ...(body !== undefined && {
      requestBody: { required: !takesNothing(body), content: { 'application/json': { schema: json(body) } } },
    }),
    responses: {
      ...Object.fromEntries(Object.entries(replies).map(([status, shape]) => [status, toResponse(shape)])),
      default: { $ref: '#/components/responses/Refused' },
    },
  }
}

/** Groups operations by resource: the first path segment after the version. */
function toTag(path: string): string {
  const [first = 'server'] = path
    .replace(/^\/api\/(v1\/)?(flex\/)?/, '')
    .split(/[/.]/)
    .filter(Boolean)
  return path.startsWith('/api/') ? first.replace(/^run$/, 'runs') : 'server'
}

function toParameters({ params, query, idempotent, replies }: Route): Json[] {
  const streams = Object.values(replies).some(({ type }) => type === 'text/event-stream')
  return [
    ...listMembers(params).map(([name, schema]) => ({
      name,
      in: 'path',
      required: true,
      schema: json(schema),
    })),
    ...listMembers(query).map(([name, schema, required]) => ({
      name,
      in: 'query',
      ...(required && { required }),
      schema: json(schema),
    })),
    ...(idempotent ? [{ $ref: '#/components/parameters/idempotencyKey' }] : []),
    ...(streams ? [{ $ref: '#/components/parameters/lastEventId' }] : []),
    { $ref: '#/components/parameters/traceparent' },
  ]
}

function listMembers(
  schema: JsonSchema | undefined,
): [name: string, schema: JsonSchema, required: boolean][] {
  if (!isObject(schema)) return []
  const properties = own(schema, 'properties')
  const required = own(schema, 'required')
  if (!isObject(properties)) return []
  return Object.entries(properties).map(([name, member]) => [
    name,
    member as JsonSchema,
    Array.isArray(required) && required.includes(name),
  ])
}

function takesNothing(body: JsonSchema): boolean {
  const forms = isObject(body) ? own(body, 'anyOf') : undefined
  return Array.isArray(forms) && forms.some((form) => isObject(form) && own(form, 'type') === 'null')
}

function toResponse({ description, schema, type = 'application/json' }: ReplyShape): Part {
  if (schema === problemSchema) return { description, content: problemContent }
  if (type === 'text/event-stream')
    return {
      description,
      content: {
        [type]: { schema: eventStream },
        ...(schema !== undefined && { 'application/json': { schema: json(schema) } }),
      },
    }
  return { description, ...(schema !== undefined && { content: { [type]: { schema: json(schema) } } }) }
}

/**
 * Converts a route's schema. Route schemas are plain data without references to their own root; `openapi.test.ts` checks
 * this. Open objects say so explicitly, because code generators read a missing keyword as "no properties".
 */
function json(schema: JsonSchema): Json {
  return explicit(schema as Json)
}

/** Keywords whose values are not schemas. */
const values: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required'])

function explicit(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(explicit)
  if (!isObject(schema)) return schema
  const entries = Object.entries(schema as Part).map(([key, part]) => [
    key,
    values.has(key) ? part : explicit(part),
  ])
  const isOpen =
    own(schema, 'type') === 'object' && !('properties' in schema) && !('additionalProperties' in schema)
  return { ...Object.fromEntries(entries), ...(isOpen && { additionalProperties: true }) }
}

const problemContent = { [problemType]: { schema: { $ref: '#/components/schemas/Problem' } } }

const eventStream = {
  type: 'string',
  description:
    'Server-sent events: `event` is the type of a journal event, `id` its sequence number, `data` a Frame as JSON. With `?partials=1` also events of the type `partial` without an id, whose `data` is a PartialFrame. Comments keep the connection alive; `retry` is the reconnect delay.',
  contentMediaType: 'text/event-stream',
  'x-event-data': { $ref: '#/components/schemas/Frame' },
} as const

const traceparent = {
  name: 'traceparent',
  in: 'header',
  description: 'Trace context of the caller (W3C Trace Context); the run and its calls continue this trace',
  schema: { type: 'string' },
} as const

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same key and body return the first response; the same key with another body is rejected',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
} as const

const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'Id of the last frame received: the stream continues after it',
  schema: { type: 'string', pattern: '^\\d{1,15}$' },
} as const
