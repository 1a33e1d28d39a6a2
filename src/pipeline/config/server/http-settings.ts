/** Limits of the HTTP server. */
import { count, countOrNone } from '../../../domain/schemas/parts.ts'
import type { ReadSetting, SettingTable } from './setting-row.ts'

export interface HttpSettings {
  readonly bodyBytes: number
  readonly answerBytes: number
  /** 0: no limit. */
  readonly rateRequests: number
  readonly rateSeconds: number
  readonly failedTokens: number
  readonly failedTokenSeconds: number
  readonly maxRuns: number
  readonly maxStreams: number
  readonly requestTimeoutMs: number
  readonly headerTimeoutMs: number
  readonly callbackRequests: number
  readonly callbackSeconds: number
  readonly registrations: number
  readonly registrationSeconds: number
  readonly tenantStreams: number
  readonly maxHandling: number
  readonly queueWaitMs: number
  /** 0: no limit. */
  readonly maxLagMs: number
}

export const httpTable = {
  'server.body_bytes': {
    schema: count,
    otherwise: 1_048_576,
    what: 'longest request body',
    env: ['PROVISO_BODY_BYTES'],
  },
  'server.answer_bytes': {
    schema: count,
    otherwise: 1_048_576,
    what: 'longest answer of an agent over HTTP',
    env: ['PROVISO_ANSWER_BYTES'],
  },
  'server.rate_requests': {
    schema: countOrNone,
    otherwise: 1_000,
    what: 'requests per token in rate_seconds; 0 switches the limit off',
    env: ['PROVISO_RATE_REQUESTS'],
  },
  'server.rate_seconds': {
    schema: count,
    otherwise: 10,
    what: 'window of rate_requests',
    env: ['PROVISO_RATE_SECONDS'],
  },
  'server.failed_tokens': {
    schema: countOrNone,
    otherwise: 60,
    what: 'refused tokens per address in failed_token_seconds; 0 switches the limit off',
    env: ['PROVISO_FAILED_TOKENS'],
  },
  'server.failed_token_seconds': {
    schema: count,
    otherwise: 60,
    what: 'window of failed_tokens',
    env: ['PROVISO_FAILED_TOKEN_SECONDS'],
  },
  'server.max_runs': {
    schema: count,
    otherwise: 1_000,
    what: 'active runs of one tenant',
    env: ['PROVISO_MAX_RUNS'],
  },
  'server.max_streams': {
    schema: count,
    otherwise: 2_000,
    what: 'open event streams',
    env: ['PROVISO_MAX_STREAMS'],
  },
  'server.request_timeout_ms': {
    schema: count,
    otherwise: 30_000,
    what: 'time for a request to arrive',
    env: ['PROVISO_REQUEST_TIMEOUT_MS'],
  },
  'server.header_timeout_ms': {
    schema: count,
    otherwise: 10_000,
    what: 'time for the headers of a request to arrive',
    env: ['PROVISO_HEADER_TIMEOUT_MS'],
  },
  'server.callback_requests': {
    schema: countOrNone,
    otherwise: 1_000,
    what: 'callbacks of agents per address in callback_seconds; 0 switches the limit off',
    env: ['PROVISO_CALLBACK_REQUESTS'],
  },
  'server.callback_seconds': {
    schema: count,
    otherwise: 10,
    what: 'window of callback_requests',
    env: ['PROVISO_CALLBACK_SECONDS'],
  },
  'server.registrations': {
    schema: countOrNone,
    otherwise: 60,
    what: 'registrations of agents per token in registration_seconds; 0 switches the limit off',
    env: ['PROVISO_REGISTRATIONS'],
  },
  'server.registration_seconds': {
    schema: count,
    otherwise: 60,
    what: 'window of registrations',
    env: ['PROVISO_REGISTRATION_SECONDS'],
  },
  'server.tenant_streams': {
    schema: count,
    otherwise: 1_000,
    what: 'open event streams of one tenant',
    env: ['PROVISO_TENANT_STREAMS'],
  },
  'server.max_handling': {
    schema: count,
    otherwise: 64,
    what: 'requests handled at once; the others wait, tenant by tenant',
    env: ['PROVISO_MAX_HANDLING'],
  },
  'server.queue_wait_ms': {
    schema: count,
    otherwise: 1_000,
    what: 'requests that would wait longer for their turn are refused with 429',
    env: ['PROVISO_QUEUE_WAIT_MS'],
  },
  'server.max_lag_ms': {
    schema: countOrNone,
    otherwise: 500,
    what: 'requests are refused with 503 while the event loop lags by more; 0 switches the limit off',
    env: ['PROVISO_MAX_LAG_MS'],
  },
} as const satisfies SettingTable

export function readHttpSettings(at: ReadSetting<typeof httpTable>): HttpSettings {
  return {
    bodyBytes: at('server.body_bytes'),
    answerBytes: at('server.answer_bytes'),
    rateRequests: at('server.rate_requests'),
    rateSeconds: at('server.rate_seconds'),
    failedTokens: at('server.failed_tokens'),
    failedTokenSeconds: at('server.failed_token_seconds'),
    maxRuns: at('server.max_runs'),
    maxStreams: at('server.max_streams'),
    requestTimeoutMs: at('server.request_timeout_ms'),
    headerTimeoutMs: at('server.header_timeout_ms'),
    callbackRequests: at('server.callback_requests'),
    callbackSeconds: at('server.callback_seconds'),
    registrations: at('server.registrations'),
    registrationSeconds: at('server.registration_seconds'),
    tenantStreams: at('server.tenant_streams'),
    maxHandling: at('server.max_handling'),
    queueWaitMs: at('server.queue_wait_ms'),
    maxLagMs: at('server.max_lag_ms'),
  }
}
