/** `GET health`: how well models satisfy their contracts in the runs of the tenant, as `proviso health-check` reports it. */
import type { Json } from '../../base/json.ts'
import { closed, text } from '../../domain/schemas/parts.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import { api, ok, refusals } from './parts.ts'

const rows = { type: 'array', items: { type: 'object' } } as const

export const showHealth: Route = {
  method: 'GET',
  path: `${api}/health`,
  operation: 'showHealth',
  summary:
    'Get the health report: repairs, failures and fallbacks of model calls, over time, and what to change',
  roles: ['operator'],
  takesLong: true,
  query: closed({
    sinceHours: { type: 'number', exclusiveMinimum: 0, maximum: 87_600 },
    buckets: { type: 'integer', minimum: 2, maximum: 100 },
    step: text,
    model: text,
    pipeline: text,
  }),
  replies: {
    200: ok('The report', {
      type: 'object',
      required: [
        'version',
        'generated_at',
        'totals',
        'stages',
        'steps',
        'models',
        'transforms',
        'recommendations',
      ],
      properties: {
        version: { type: 'string' },
        generated_at: { type: 'string', format: 'date-time' },
        totals: { type: 'object' },
        stages: { type: 'object' },
        step_stages: { type: 'object' },
        model_stages: { type: 'object' },
        steps: rows,
        models: rows,
        transforms: rows,
        recommendations: rows,
        trend: { type: 'object' },
      },
    }),
    ...refusals(),
  },
  async handle({ caller: { tenant }, query }, { app }) {
    if (!app.reportHealth) return refusal('route/missing', 'This app has no health report')
    const { sinceHours, buckets, step, model, pipeline } = query as unknown as HealthQuery
    const report = await app.reportHealth({
      tenant,
      // A trend needs a beginning.
      ...(sinceHours !== undefined && { sinceHours, trendBuckets: buckets ?? 12 }),
      ...(step !== undefined && { nodeId: step }),
      ...(model !== undefined && { model }),
      ...(pipeline !== undefined && { pipeline }),
    })
    // The report is JSON by construction; the redactor preserves the shape.
    return { status: 200, body: app.redactor.value(report) as Json }
  },
}

/** Validated by the route's schema. */
interface HealthQuery {
  readonly sinceHours?: number
  readonly buckets?: number
  readonly step?: string
  readonly model?: string
  readonly pipeline?: string
}
