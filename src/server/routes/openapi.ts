/** `GET /openapi.json`: the OpenAPI document of all routes, generated on the first request. */
import type { Json } from '../../base/json.ts'
import { openApiDocument } from '../openapi.ts'
import type { Route } from '../route.ts'

export function openApiRoute(routes: () => readonly Route[], version: string): Route {
  let document: Json | undefined
  return {
    method: 'GET',
    path: '/openapi.json',
    operation: 'getOpenApi',
    summary: 'This document',
    roles: 'anyone',
    replies: {
      200: {
        description: 'OpenAPI 3.1',
        schema: {
          type: 'object',
          required: ['openapi', 'info', 'paths'],
          properties: { openapi: { const: '3.1.0' } },
        },
      },
    },
    async handle() {
      document ??= openApiDocument(routes(), { version })
      return { status: 200, body: document }
    },
  }
}
