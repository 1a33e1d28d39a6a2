/** Test seam: streams, logs, metrics and limits of the server. */
export type { paths } from '../../src/client/api.ts'
export { createEndpointSeal, readSecretKey } from '../../src/server/agents/agents.ts'
export { problemSchema } from '../../src/server/problem.ts'
export { requestIssueTable } from '../../src/server/problem-table.ts'
export { getWakeups } from '../../src/server/stream/sse-connection.ts'
export {
  type StreamEnd,
  type StreamOptions,
  streamDefaults,
  streamEvents,
} from '../../src/server/stream/streams.ts'
export { createMetrics } from '../../src/server/telemetry/metrics.ts'
export { createLog } from '../../src/server/telemetry/telemetry.ts'
