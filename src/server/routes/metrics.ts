/**
 * `GET /metrics`: counters for a scraper with an operator's token; in development mode everybody is an operator. They count
 * all tenants together and name their capabilities, so they are for those who run the server: the tenant `default`.
 */
import { defaultTenant } from '../authenticate.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { refusals } from './parts.ts'

export function metricsRoute(metrics: Metrics): Route {
  return {
    method: 'GET',
    path: '/metrics',
    operation: 'getMetrics',
    summary: 'Counters and histograms of this process in the text format of Prometheus',
    roles: ['operator'],
    replies: {
      200: { description: 'The metrics', schema: { type: 'string' }, type: 'text/plain' },
      ...refusals(),
    },
    async handle({ caller: { tenant } }) {
      if (tenant === defaultTenant) return { status: 200, body: await metrics.text() }
      return refusal('auth/forbidden', 'The counters are those of all tenants together', {
        hint: `It takes an operator's token of the tenant ${defaultTenant}`,
      })
    },
  }
}
