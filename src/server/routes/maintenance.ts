/** Routes of the operations kit, for admins: the operations audit, erasure of runs, and sealing agent secrets again. */
import type { Json } from '../../base/json.ts'
import { type OperationQuery, operationActions } from '../../domain/ports/operations.ts'
import { closed, flag, text } from '../../domain/schemas/parts.ts'
import { type EraseRequest, eraseRuns, previewErasure } from '../../engine/erase.ts'
import type { Route } from '../route.ts'
import { requireAgents } from './capabilities.ts'
import { api, iso, ok, refusals, signature } from './parts.ts'

const dateTime = { type: 'string', format: 'date-time' } as const
const whole = { type: 'integer', minimum: 0 } as const

const operationSchema = {
  type: 'object',
  required: ['seq', 'at', 'by', 'action', 'subject', 'details', 'prev', 'hash'],
  properties: {
    seq: { type: 'integer' },
    at: dateTime,
    by: { type: 'string' },
    action: { enum: operationActions },
    subject: { type: 'string' },
    details: { type: 'object' },
    prev: { type: 'string' },
    hash: { type: 'string' },
  },
} as const

export const listOperations: Route = {
  method: 'GET',
  path: `${api}/audit`,
  operation: 'listOperations',
  summary: 'List changes of tokens, settings and registrations, and deleted runs, newest first',
  roles: ['admin'],
  query: closed({
    action: { enum: operationActions },
    subject: text,
    before: { type: 'integer', minimum: 1 },
    limit: { type: 'integer', minimum: 1, maximum: 500 },
  }),
  replies: {
    200: ok('A page of the operations audit; pass next as before for the next page', {
      type: 'object',
      required: ['operations'],
      properties: { operations: { type: 'array', items: operationSchema }, next: { type: 'integer' } },
    }),
    ...refusals(),
  },
  async handle({ caller: { tenant }, query }, { app }) {
    // Validated by the route's schema.
    const { limit = 100, ...filter } = query as unknown as Omit<OperationQuery, 'tenant'>
    const found = await app.store.records.operations.list({ ...filter, tenant, limit: limit + 1 })
    const page = found.slice(0, limit)
    const next = found.length > limit ? page.at(-1)?.seq : undefined
    const operations = page.map(({ tenant: _, at, ...row }) => ({ ...row, at: iso(at) }))
    return { status: 200, body: { operations, ...(next !== undefined && { next }) } }
  },
}

const erasedRunSchema = {
  type: 'object',
  required: ['runId', 'status', 'events', 'auditHead'],
  properties: { runId: text, status: text, events: whole, auditHead: { type: 'string' } },
} as const

const previewSchema = {
  type: 'object',
  required: ['dryRun', 'runs', 'unfinished', 'events', 'values', 'sharedValues', 'answers'],
  properties: {
    dryRun: { const: true },
    runs: { type: 'array', items: erasedRunSchema },
    unfinished: { type: 'array', items: text },
    events: whole,
    values: whole,
    sharedValues: whole,
    answers: whole,
  },
} as const

const receiptSchema = {
  type: 'object',
  required: ['receiptId', 'at', 'by', 'scope', 'runs', 'deleted', 'sharedValues', 'residue', 'hash', 'audit'],
  properties: {
    receiptId: text,
    at: dateTime,
    by: { type: 'string' },
    reason: { type: 'string' },
    scope: { type: 'object' },
    runs: { type: 'array', items: erasedRunSchema },
    deleted: { type: 'object' },
    sharedValues: whole,
    residue: { type: 'array', items: { type: 'string' } },
    hash: { type: 'string' },
    audit: { type: 'object' },
  },
} as const

export const eraseRoute: Route = {
  method: 'POST',
  path: `${api}/erase`,
  operation: 'eraseRuns',
  takesLong: true,
  summary: 'Erase one run of the caller’s tenant, or every run about a subject, and return a receipt',
  roles: ['admin'],
  body: closed({
    runId: text,
    /** As in `metadata.subject` of the envelopes. */
    subject: { ...text, maxLength: 1_000 },
    reason: { type: 'string', maxLength: 1_000 },
    /** Only report what would be erased. */
    dryRun: flag,
  }),
  replies: {
    200: ok('The receipt, or with dryRun what would be erased', { anyOf: [receiptSchema, previewSchema] }),
    ...refusals(404, 409, 413, 415, 422),
  },
  async handle({ caller, body }, { app }) {
    // Validated by the route's schema.
    const { dryRun = false, ...given } = body as unknown as EraseRequest & { readonly dryRun?: boolean }
    const request = { ...given, tenant: caller.tenant, by: signature(caller) }
    const done = dryRun
      ? { dryRun, ...(await previewErasure(app.store, request)) }
      : await eraseRuns(app.store, request)
    // Plain data.
    return { status: 200, body: done as unknown as Json }
  },
}

/** A key that the server does not have, and what of the tenant is sealed with it. */
const unknownKeySchema = {
  type: 'object',
  required: ['keyId', 'runs', 'rows'],
  properties: { keyId: text, runs: whole, rows: whole },
} as const

export const resealSecrets: Route = {
  method: 'POST',
  path: `${api}/secrets/reseal`,
  operation: 'resealSecrets',
  takesLong: true,
  summary: 'Encrypt the secrets of the tenant’s agents and runs with the newest key of the server',
  roles: ['admin'],
  replies: {
    200: ok('How many were encrypted again, had the newest key already, or cannot be decrypted', {
      type: 'object',
      required: ['resealed', 'current', 'unreadable', 'runs', 'runsUnderWay', 'unknownKeys'],
      properties: {
        resealed: whole,
        current: whole,
        unreadable: { type: 'array', items: text },
        runs: whole,
        runsUnderWay: whole,
        unknownKeys: { type: 'array', items: unknownKeySchema },
      },
    }),
    ...refusals(404, 422),
  },
  async handle({ caller }, served) {
    const { registrar } = requireAgents(served)
    const request = { tenant: caller.tenant, by: signature(caller) }
    const { resealed, current, unreadable } = await registrar.reseal(request)
    const runs = await served.app.store.resealRuns?.(request)
    const names = unreadable.map(({ capabilityId }) => capabilityId)
    const counts = { runs: runs?.runs ?? 0, runsUnderWay: runs?.underWay ?? 0 }
    const unknownKeys = (runs?.unknownKeys ?? []).map((key) => ({ ...key }))
    return { status: 200, body: { resealed, current, unreadable: names, ...counts, unknownKeys } }
  },
}
