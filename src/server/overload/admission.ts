/**
 * Decides whether a request is handled now, before its body is read: by the lag of the event loop and by the time it would
 * wait. What is admitted is carried out. Requests that control runs (cancel, resume, replies, heartbeats) are always
 * admitted, so that an overloaded server can be relieved.
 */
import type { Clock } from '../../base/time/clock.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Caller, Route } from '../route.ts'
import { createFairQueue, type FairQueue, type Permit } from './fair-queue.ts'
import type { LoopLag } from './loop-lag.ts'

export interface AdmissionOptions {
  /** Requests handled at once, until a run is accepted or a response begins; others wait, tenant by tenant. Default 16. */
  readonly handling?: number
  /** Requests that would wait longer are refused with 429. Default 1,000. */
  readonly queueMs?: number
  /** Requests are refused with 503 while the event loop lags by more than this all the time; 0: never. Default 500. */
  readonly lagMs?: number
}

export interface Admission {
  /** Waits for the turn of the caller's tenant. Release the permit when the request is accepted or answered. */
  enter(route: Route, caller: Caller): Promise<Permit | Refusal>
  readonly queue: Pick<FairQueue, 'active' | 'waiting'>
}

export function createAdmission(
  { handling = 16, queueMs = 1_000, lagMs = 500 }: AdmissionOptions,
  { lag, clock, onRefused }: AdmissionParts,
): Admission {
  const queue = createFairQueue({ concurrency: handling, waitMs: queueMs, clock })
  return {
    queue,
    async enter(route, { tenant }) {
      if (route.isControl) return free
      const late = lag.least()
      if (lagMs > 0 && late > lagMs) {
        onRefused('lag')
        return overloaded(
          `The event loop has been behind by at least ${Math.round(late)} ms for a second (\`server.max_lag_ms\` is ${lagMs})`,
          1_000,
        )
      }
      const entered = await queue.enter(tenant)
      if ('release' in entered) return entered
      onRefused(entered.why)
      if (entered.why === 'late')
        return overloaded(
          `The request waited for ${2 * queueMs} ms without a turn (\`server.queue_wait_ms\` is ${queueMs})`,
          entered.waitMs,
        )
      return refusal(
        'overload/queue',
        `The tenant has ${entered.waiting} requests waiting; one more would wait about ${Math.round(entered.waitMs)} ms (\`server.queue_wait_ms\` is ${queueMs})`,
        { headers: { 'retry-after': toSeconds(entered.waitMs) } },
      )
    },
  }
}

interface AdmissionParts {
  readonly lag: Pick<LoopLag, 'least'>
  readonly clock: Clock
  readonly onRefused: (why: 'lag' | 'queue' | 'late') => void
}

const free: Permit = { release() {} }

function overloaded(detail: string, waitMs: number): Refusal {
  return refusal('overload/server', detail, { headers: { 'retry-after': toSeconds(waitMs) } })
}

function toSeconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)))
}
