/** The limits of an HTTP server from its settings. */
import type { ServerSettings } from '../../pipeline/index.ts'
import type { ServerLimits } from '../../server/index.ts'

/** In development there are no rate limits, unless `isSet` says that somebody has asked for one. */
export function serverLimits(
  { server }: ServerSettings,
  { dev, isSet }: { readonly dev: boolean; readonly isSet: (key: string) => boolean },
): ServerLimits {
  const rate = (requests: number, seconds: number) => (requests === 0 ? false : { requests, seconds })
  const applies = (key: string) => !dev || isSet(key)
  return {
    bodyBytes: server.bodyBytes,
    runs: server.maxRuns,
    streams: server.maxStreams,
    requestMs: server.requestTimeoutMs,
    rate: applies('server.rate_requests') && rate(server.rateRequests, server.rateSeconds),
    failures: applies('server.failed_tokens') && rate(server.failedTokens, server.failedTokenSeconds),
  }
}
