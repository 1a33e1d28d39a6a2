/** Routes for the memories of agents: list and delete them. */
import type { Json } from '../../base/json.ts'
import { forget, listMemories } from '../../domain/memory/memories.ts'
import { rankMemories } from '../../domain/memory/memory-tools.ts'
import { closed, text } from '../../domain/schemas/parts.ts'
import { refusal } from '../problem.ts'
import type { Route } from '../route.ts'
import { api, iso, ok, refusals } from './parts.ts'

const memorySchema = {
  type: 'object',
  required: ['id', 'text', 'tags', 'at', 'runId'],
  properties: {
    id: text,
    text: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    at: { type: 'string', format: 'date-time' },
    /** The run that remembered it. */
    runId: text,
  },
} as const

export const listMemoriesRoute: Route = {
  method: 'GET',
  path: `${api}/memories`,
  operation: 'listMemories',
  summary: 'List what agents remember, newest first; with search, the best match first',
  roles: ['operator'],
  query: closed({ search: { ...text, maxLength: 200 } }),
  replies: {
    200: ok('All memories of the tenant, or those with a word of the search', {
      type: 'object',
      required: ['memories'],
      properties: { memories: { type: 'array', items: memorySchema } },
    }),
  },
  async handle({ caller, query }, { app }) {
    const all = await listMemories(app.store.records.documents, caller.tenant)
    const found = query['search'] === undefined ? all : rankMemories(all, String(query['search']))
    const memories = found.map(({ at, ...memory }) => ({ ...memory, at: iso(at) }))
    // The redactor preserves the shape.
    return { status: 200, body: { memories: app.redactor.value(memories) as Json } }
  },
}

export const deleteMemory: Route = {
  method: 'DELETE',
  path: `${api}/memories/:memoryId`,
  operation: 'deleteMemory',
  summary: 'Delete a memory',
  roles: ['operator'],
  params: closed({ memoryId: text }, ['memoryId']),
  replies: {
    200: ok('It is deleted', {
      type: 'object',
      required: ['ok', 'id'],
      properties: { ok: { const: true }, id: text },
    }),
    ...refusals(404),
  },
  async handle({ caller, params }, { app }) {
    const id = params['memoryId'] ?? ''
    if (await forget(app.store.records.documents, caller.tenant, id))
      return { status: 200, body: { ok: true, id } }
    return refusal('memory/missing', `Memory "${id}" not found`, {
      hint: `List them with GET ${api}/memories`,
    })
  },
}
