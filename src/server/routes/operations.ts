/** Routes for operators: liveness and readiness probes, metrics, the OpenAPI document. */

import { errorTable, ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import { defaultTenant } from '../auth/authenticate.ts'
import { openApiDocument } from '../openapi.ts'
import { refusal } from '../problem.ts'
import { errorStatus } from '../problem-table.ts'
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

const notReadyBody = {
  type: 'object',
  required: ['status'],
  properties: {
    status: { enum: ['stopping', 'store'] },
    code: { type: 'string', description: 'Stable code, such as store/replaced' },
    reason: { type: 'string' },
    hint: { type: 'string', description: 'What to do about it' },
  },
} as const

export const readyz: Route = {
  method: 'GET',
  path: '/readyz',
  operation: 'readyz',
  summary: 'Readiness probe: the server accepts requests and its store can be written to',
  roles: 'anyone',
  replies: { 200: ok('Ready', statusBody), 503: ok('Not ready', notReadyBody) },
  async handle(_call, { app, isStopping }) {
    if (isStopping?.()) return { status: 503, body: { status: 'stopping' } }
    const trouble = await probeStore(app)
    if (trouble === undefined) return { status: 200, body: { status: 'ready' } }
    return { status: 503, body: { status: 'store', ...trouble } }
  },
}

type StoreTrouble = { readonly code: string; readonly reason: string; readonly hint: string }

/** Anyone may ask: a store is probed at most once in this time, because a probe writes. */
const probeEveryMs = 1_000

interface Probe {
  readonly at: number
  readonly found: Promise<StoreTrouble | undefined>
}

const lastProbes = new WeakMap<object, Probe>()

async function probeStore({ store }: ServedApp): Promise<StoreTrouble | undefined> {
  const late = new Promise<StoreTrouble>((resolve) => setTimeout(() => resolve(tooLate), patienceMs).unref())
  return Promise.race([startProbe(store), late])
}

function startProbe(store: ServedApp['store']): Probe['found'] {
  const last = lastProbes.get(store)
  const now = performance.now()
  if (last !== undefined && now - last.at < probeEveryMs) return last.found
  const probed = store.probe ? store.probe() : store.nextWake()
  const found = probed.then(() => undefined, describeTrouble)
  lastProbes.set(store, { at: now, found })
  return found
}

const tooLate: StoreTrouble = {
  code: 'store/unavailable',
  reason: `The store has not answered within ${patienceMs / 1_000} seconds`,
  hint: 'Check the disk or the database server',
}

/** Anyone may read this: messages may contain paths, so only the reason is shown. The log has the message. */
function describeTrouble(cause: unknown): StoreTrouble {
  const code = ProvisoError.is(cause) ? cause.code : 'internal'
  if (code === 'store/replaced' || code === 'store/lost' || code === 'store/corrupt')
    return { code, reason: errorStatus[code].title, hint: errorTable[code].hint }
  if (isDiskFull(cause))
    return {
      code,
      reason: 'The disk of the store is full',
      hint: 'Free space: writes continue by themselves',
    }
  return { code, reason: 'The store cannot be written to', hint: 'Check the log of the server' }
}

/** SQLite reports a full disk as such, or as an I/O error with the code of the system below. */
function isDiskFull(cause: unknown): boolean {
  for (let error: unknown = cause; error instanceof Error; error = error.cause)
    if (/^(ENOSPC|EDQUOT|EFBIG|SQLITE_FULL|53100)/.test(String((error as { code?: unknown }).code)))
      return true
  return false
}

// `GET /metrics`: metrics for a scraper with an operator's token. In development mode every caller is an operator. Metrics
// cover all tenants and name their capabilities, so only the tenant `default`, which runs the server, may read them.

export function metricsRoute(metrics: Metrics): Route {
  return {
    method: 'GET',
    path: '/metrics',
    operation: 'getMetrics',
    isControl: true,
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
