/** `GET /metrics`: counters for a scraper with an operator's token; in development mode everybody is an operator. */
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
    handle: async () => ({ status: 200, body: await metrics.text() }),
  }
}
