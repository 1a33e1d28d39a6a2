/**
 * `GET /metrics`: metrics for a scraper with an operator's token. In development mode every caller is an operator. Metrics
 * cover all tenants and name their capabilities, so only the tenant `default`, which runs the server, may read them.
 */
import { defaultTenant } from '../auth/authenticate.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { refusals } from './parts.ts'

export function metricsRoute(metrics: Metrics): Route {
  return {
    method: 'GET',
    path: '/metrics',
    operation: 'getMetrics',
    summary: 'Counters and histograms of this process in the Prometheus text format',
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
