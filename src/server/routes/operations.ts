/** Routes for operators: liveness and readiness probes, metrics, the OpenAPI document. */

import type { Json } from '../../base/json.ts'
import { defaultTenant } from '../auth/authenticate.ts'
import { openApiDocument } from '../openapi.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import type { ServedApp } from '../served.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { ok, refusals } from './parts.ts'

const statusBody = {
  type: 'object',
  required: ['status'],
  properties: { status: { type: 'string' } },
} as const

/** Timeout of the store in the readiness probe. */
const patienceMs = 2_000

export const livez: Route = {
  method: 'GET',
  path: '/livez',
  operation: 'livez',
  summary: 'Liveness probe: the process is alive',
  roles: 'anyone',
  replies: { 200: ok('Alive', statusBody) },
  handle: async () => ({ status: 200, body: { status: 'alive' } }),
}

export const readyz: Route = {
  method: 'GET',
  path: '/readyz',
  operation: 'readyz',
  summary: 'Readiness probe: the server accepts requests and its store answers',
  roles: 'anyone',
  replies: { 200: ok('Ready', statusBody), 503: ok('Not ready', statusBody) },
  async handle(_call, { app, isStopping }) {
    if (isStopping?.()) return { status: 503, body: { status: 'stopping' } }
    const answers = await storeAnswers(app)
    return answers ? { status: 200, body: { status: 'ready' } } : { status: 503, body: { status: 'store' } }
  },
}

async function storeAnswers({ store }: ServedApp): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), patienceMs).unref())
  const asked = store.nextWake().then(
    () => true,
    () => false,
  )
  return Promise.race([asked, late])
}

// `GET /metrics`: metrics for a scraper with an operator's token. In development mode every caller is an operator. Metrics
// cover all tenants and name their capabilities, so only the tenant `default`, which runs the server, may read them.

export function metricsRoute(metrics: Metrics): Route {
  return {
    method: 'GET',
    path: '/metrics',
    operation: 'getMetrics',
    summary: 'Get the counters and histograms of this process in the Prometheus text format',
    roles: ['operator'],
    replies: {
      200: { description: 'The metrics', schema: { type: 'string' }, type: 'text/plain' },
      ...refusals(),
    },
    async handle({ caller: { tenant } }) {
      if (tenant === defaultTenant) return { status: 200, body: await metrics.text() }
      return refusal(
        'auth/forbidden',
        'Metrics cover all tenants, so the token must belong to the default tenant',
        {
          hint: `Use an operator's token of the tenant ${defaultTenant}`,
        },
      )
    },
  }
}

// `GET /openapi.json`: the OpenAPI document of all routes, generated on the first request.

export function openApiRoute(routes: () => readonly Route[], version: string): Route {
  let document: Json | undefined
  return {
    method: 'GET',
    path: '/openapi.json',
    operation: 'getOpenApi',
    summary: 'Get this OpenAPI document',
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
