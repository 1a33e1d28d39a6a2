/** Test seam: streams, logs, metrics and limits of the server. */
export type { paths } from '../../src/client/api.ts'
export { abandonedMs } from '../../src/server/http/idempotency.ts'
export { problemSchema } from '../../src/server/problem.ts'
export { requestIssueTable } from '../../src/server/problem-table.ts'
export {
  type StreamEnd,
  type StreamOptions,
  streamDefaults,
  streamEvents,
} from '../../src/server/stream/sse.ts'
export { getWakeups } from '../../src/server/stream/wakeups.ts'
export { createLog } from '../../src/server/telemetry/log.ts'
export { createMetrics } from '../../src/server/telemetry/metrics.ts'
