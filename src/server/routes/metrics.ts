/** `GET /metrics`: counters for a scraper with an operator's token; without one only in development. */
import type { Route } from '../route.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export function metricsRoute(metrics: Metrics, { open }: { readonly open: boolean }): Route {
  return {
    method: 'GET',
    path: '/metrics',
    operation: 'getMetrics',
    summary: 'Counters and histograms of this process in the text format of Prometheus',
    roles: open ? 'anyone' : ['operator'],
    replies: {
      200: { description: 'The metrics', schema: { type: 'string' }, type: 'text/plain' },
    },
    handle: async () => ({ status: 200, body: await metrics.text() }),
  }
}
