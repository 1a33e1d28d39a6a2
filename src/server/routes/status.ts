/** `GET status`: queue, leases, stuck runs and processes of the whole installation, for operators. */
import { type closed, text } from '../../domain/schemas/parts.ts'
import { readStatus, type SystemStatus } from '../../engine/status.ts'
import { defaultTenant } from '../auth/authenticate.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import { api, iso, ok, refusals } from './parts.ts'

const time = { type: 'string', format: 'date-time' } as const
const count = { type: 'integer', minimum: 0 } as const
const run = { runId: text, tenant: text } as const
const list = (properties: Parameters<typeof closed>[0], required: readonly string[]) =>
  ({ type: 'array', items: { type: 'object', required, properties } }) as const

const statusSchema = {
  type: 'object',
  required: ['now', 'store', 'runs', 'queue', 'leases', 'stuck', 'processes', 'schedules'],
  properties: {
    now: time,
    store: text,
    runs: { type: 'object', additionalProperties: count },
    queue: {
      type: 'object',
      required: ['due', 'lagMs', 'oldest'],
      properties: {
        due: count,
        lagMs: { type: 'number' },
        oldest: list({ ...run, dueAt: time }, ['runId', 'tenant', 'dueAt']),
      },
    },
    leases: list({ owner: text, runs: count, expired: count }, ['owner', 'runs', 'expired']),
    stuck: list({ ...run, why: { enum: ['due', 'quarantined'] }, placement: text, since: time }, [
      'runId',
      'why',
      'since',
    ]),
    oldestAsk: {
      type: 'object',
      required: ['requestId', 'runId', 'createdAt'],
      properties: { ...run, requestId: text, createdAt: time },
    },
    processes: list(
      {
        owner: text,
        role: { enum: ['serve', 'api', 'worker'] },
        host: text,
        pid: count,
        version: text,
        labels: { type: 'object', additionalProperties: text },
        active: count,
        startedAt: time,
        seenAt: time,
        isAlive: { type: 'boolean' },
        circuits: list({ name: text, state: { enum: ['open', 'half-open'] }, until: time, failures: count }, [
          'name',
          'state',
          'until',
          'failures',
        ]),
      },
      ['owner', 'role', 'active', 'startedAt', 'seenAt', 'isAlive'],
    ),
    limits: list(
      {
        name: text,
        concurrency: count,
        rate: { type: 'object', properties: { count, perMs: count } },
        held: count,
        wanted: count,
      },
      ['name', 'held', 'wanted'],
    ),
    schedules: {
      type: 'object',
      required: ['active', 'inactive'],
      properties: { active: count, inactive: count, nextAt: time },
    },
  },
} as const

export const showStatus: Route = {
  method: 'GET',
  path: `${api}/status`,
  operation: 'showStatus',
  isControl: true,
  summary: 'Show queue, leases, stuck runs and processes of all tenants',
  roles: ['operator'],
  replies: { 200: ok('The status', statusSchema), ...refusals(422) },
  async handle({ caller: { tenant } }, { app }) {
    if (tenant !== defaultTenant)
      return refusal(
        'auth/forbidden',
        'The status covers all tenants, so the token must belong to the default one',
        {
          hint: `Use an operator's token of the tenant ${defaultTenant}`,
        },
      )
    return { status: 200, body: toStatusView(await readStatus(app.store)) }
  },
}

function toStatusView({ now, queue, stuck, oldestAsk, processes, schedules, limits, ...rest }: SystemStatus) {
  const { nextAt, ...fires } = schedules
  return {
    ...rest,
    runs: { ...rest.runs } as Record<string, number>,
    leases: rest.leases.map((lease) => ({ ...lease })),
    now: iso(now),
    queue: { ...queue, oldest: queue.oldest.map(({ dueAt, ...run }) => ({ ...run, dueAt: iso(dueAt) })) },
    stuck: stuck.map(({ since, ...run }) => ({ ...run, since: iso(since) })),
    ...(oldestAsk && { oldestAsk: { ...oldestAsk, createdAt: iso(oldestAsk.createdAt) } }),
    limits: limits.map(({ rate, ...limit }) => ({ ...limit, ...(rate && { rate: { ...rate } }) })),
    processes: processes.map(({ startedAt, seenAt, circuits, labels, ...each }) => ({
      ...each,
      ...(labels && { labels: { ...labels } }),
      ...(circuits && {
        circuits: circuits.map(({ until, ...circuit }) => ({ ...circuit, until: iso(until) })),
      }),
      startedAt: iso(startedAt),
      seenAt: iso(seenAt),
    })),
    schedules: { ...fires, ...(nextAt !== undefined && { nextAt: iso(nextAt) }) },
  }
}
