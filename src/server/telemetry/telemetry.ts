/** Connects metrics and log to the runs of this process, and disconnects them when the server stops. */
import type { SubscribeToLifecycle } from '../../domain/event/lifecycle.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { createLog, type Log, type LogOptions } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'

interface Watched {
  readonly subscribeToLifecycle: SubscribeToLifecycle
  readonly redactor: Redactor
  /** Number of runs active in this process. */
  readonly active: number
}

interface Telemetry {
  readonly metrics: Metrics
  readonly log: Log | undefined
  end(): void
}

export function createTelemetry(app: Watched, log?: Omit<LogOptions, 'redactor'>): Telemetry {
  const metrics = createMetrics()
  metrics.watchActive(() => app.active)
  const own = log && createLog({ ...log, redactor: app.redactor })
  const ends = [
    app.subscribeToLifecycle(metrics.onNotice),
    ...(own ? [app.subscribeToLifecycle(own.onNotice)] : []),
  ]
  return {
    metrics,
    log: own,
    end() {
      for (const end of ends) end()
    },
  }
}
