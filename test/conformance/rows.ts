/** What hostile servers do, one row each, and what is promised of their callers. */
import type { Outcome } from '../../src/types.ts'
import type { Act, Script } from './hostile-server.ts'

/** What a good server says, and what one says that refuses; as bodies of the wire. */
export interface Bodies {
  readonly good: string
  readonly says: (text: string) => string
  readonly refuses?: string
}

export interface Promised {
  /** Calls that arrive at the hostile server. */
  readonly calls: number
  readonly outcome: Outcome
  /** Milliseconds that are waited between the calls, at least and at most. */
  readonly waitedMs: readonly [number, number]
  /** The alternate has given the answer. */
  readonly fallback: boolean
}

export interface Row {
  readonly name: string
  /** Absent: the address refuses connections. */
  readonly script?: (bodies: Bodies) => Script
  /** Pauses take real time, because the server itself does. */
  readonly realTime?: true
  readonly timeoutMs?: number
  /** Default true. */
  readonly idempotent?: boolean
  /** It says 202 and posts its answer this often: the status that each post gets. */
  readonly callbacks?: readonly number[]
  /** Absent: the row is about the other kind alone. */
  readonly models?: Promised
  readonly agents?: Promised
}

const always =
  (act: (bodies: Bodies) => Act) =>
  (bodies: Bodies): Script =>
  () =>
    act(bodies)

/** Throttles this many calls, then answers. */
const throttles =
  (times: number, headers: () => { readonly [name: string]: string } = () => ({})) =>
  (bodies: Bodies): Script =>
  (call) =>
    call < times
      ? { status: 429, headers: headers(), body: '{"error":{"message":"slow down"}}' }
      : { body: bodies.good }

const accepts = always(() => ({ status: 202, body: '{}' }))
const says = (status: number): Act => ({ status, body: '{"error":{"message":"no"}}' })
const apology = "I'm sorry, but I can't help with that."
const page = '<html><body>Tea <b>shop</b>, closed</body></html>'

const none = [0, 0] as const
/** Four pauses at half of 0.5, 1, 2 and 4 seconds: chance always says one half here. */
const allPauses = [3_750, 3_750] as const

const ok: Promised = { calls: 1, outcome: 'ok', waitedMs: none, fallback: false }
const both = (promised: Promised) => ({ models: promised, agents: promised })
const fails = (calls: number, outcome: Outcome): Promised => ({
  calls,
  outcome,
  waitedMs: none,
  fallback: true,
})

export const rows: readonly Row[] = [
  { name: 'answers', script: always(({ good }) => ({ body: good })), ...both(ok) },
  {
    name: '429 for ever',
    script: throttles(Number.POSITIVE_INFINITY),
    ...both({ ...fails(5, 'throttled'), waitedMs: allPauses }),
  },
  {
    name: '503 for ever',
    script: always(() => says(503)),
    ...both({ ...fails(5, 'throttled'), waitedMs: allPauses }),
  },
  { name: '429 twice', script: throttles(2), ...both({ ...ok, calls: 3, waitedMs: [750, 750] }) },
  {
    name: 'Retry-After in seconds',
    script: throttles(1, () => ({ 'retry-after': '2' })),
    ...both({ ...ok, calls: 2, waitedMs: [2_000, 2_000] }),
  },
  {
    name: 'Retry-After as a date',
    script: throttles(1, () => ({ 'retry-after': new Date(Date.now() + 6_000).toUTCString() })),
    ...both({ ...ok, calls: 2, waitedMs: [1_000, 6_000] }),
  },
  {
    name: 'Retry-After beyond the deadline',
    script: throttles(Number.POSITIVE_INFINITY, () => ({ 'retry-after': '3600' })),
    timeoutMs: 600_000,
    ...both(fails(1, 'throttled')),
  },
  { name: 'refuses connections', ...both({ ...fails(0, 'unavailable'), waitedMs: allPauses }) },
  {
    name: 'resets connections',
    script: always(() => 'reset'),
    ...both({ ...fails(5, 'unavailable'), waitedMs: allPauses }),
  },
  {
    name: 'resets, and is not idempotent',
    script: always(() => 'reset'),
    idempotent: false,
    agents: fails(1, 'provider_error'),
  },
  {
    name: 'hangs',
    script: always(() => 'hang'),
    realTime: true,
    timeoutMs: 2_000,
    ...both(fails(1, 'timed_out')),
  },
  {
    name: 'cuts the answer',
    script: always(({ good }) => ({ cut: good })),
    models: fails(2, 'provider_error'),
    agents: fails(1, 'provider_error'),
  },
  {
    name: 'calls its JSON text/html',
    script: always(({ good }) => ({ type: 'text/html', body: good })),
    ...both(ok),
  },
  {
    name: 'calls an HTML page JSON',
    script: always(() => ({ body: page })),
    models: fails(4, 'provider_error'),
    agents: fails(1, 'invalid'),
  },
  {
    name: 'answers late',
    script: always(({ good }) => ({ body: good, afterMs: 300 })),
    realTime: true,
    timeoutMs: 20_000,
    ...both(ok),
  },
  {
    name: 'answers twice',
    script: always(({ good }) => ({ body: good, twice: true })),
    ...both(ok),
  },
  { name: 'calls back', script: accepts, realTime: true, callbacks: [200], agents: ok },
  { name: 'calls back twice', script: accepts, realTime: true, callbacks: [200, 409], agents: ok },
  {
    name: 'accepts, and never calls back',
    script: accepts,
    realTime: true,
    timeoutMs: 2_000,
    callbacks: [],
    agents: fails(1, 'timed_out'),
  },
  { name: '401', script: always(() => says(401)), ...both(fails(1, 'provider_error')) },
  {
    name: '500',
    script: always(() => says(500)),
    models: fails(2, 'provider_error'),
    agents: fails(1, 'provider_error'),
  },
  {
    name: 'answers nothing',
    script: always(() => ({ body: '' })),
    models: fails(2, 'provider_error'),
    agents: fails(1, 'invalid'),
  },
  {
    name: 'answers without end',
    script: always(() => ({ flood: 1 << 30 })),
    models: fails(2, 'provider_error'),
    agents: fails(1, 'invalid'),
  },
  {
    name: 'declines in words',
    script: always((bodies) => ({ body: bodies.says(apology) })),
    ...both(fails(1, 'refused')),
  },
  {
    name: 'refuses in its own field',
    script: always(({ refuses = '' }) => ({ body: refuses })),
    models: fails(1, 'refused'),
  },
  {
    name: 'never answers with JSON',
    script: always((bodies) => ({ body: bodies.says('Tea is warm and nice.') })),
    models: fails(4, 'invalid'),
    agents: fails(1, 'invalid'),
  },
]
