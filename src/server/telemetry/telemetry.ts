/** What a server counts and says of the runs in its process: put together here, ended with the server. */
import type { SubscribeToLifecycle } from '../../domain/lifecycle.ts'
import type { Redactor } from '../../domain/redact.ts'
import { createLog, type Log, type LogOptions } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'

export interface Watched {
  readonly subscribeToLifecycle: SubscribeToLifecycle
  readonly redactor: Redactor
  /** Runs that are being carried here. */
  readonly active: number
}

export interface Telemetry {
  readonly metrics: Metrics
  readonly log: Log | undefined
  end(): void
}

export function createTelemetry(app: Watched, log?: Omit<LogOptions, 'redactor'>): Telemetry {
  const metrics = createMetrics()
  metrics.watchActive(() => app.active)
  const own = log && createLog({ ...log, redactor: app.redactor })
  const ends = [app.subscribeToLifecycle(metrics.hear), ...(own ? [app.subscribeToLifecycle(own.hear)] : [])]
  return {
    metrics,
    log: own,
    end() {
      for (const end of ends) end()
    },
  }
}
