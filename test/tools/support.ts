/** What the tests of agents with tools share: an agent with a scripted model, and tools that note their calls. */

import { compatible } from '../../src/adapters/providers/compatible.ts'
import {
  type App,
  type AppOptions,
  type DefinedCapability,
  defineAgent,
  type Json,
  tool,
} from '../../src/index.ts'
import type { AgentLimits, AgentToolInput, Approval } from '../../src/types.ts'
import { afterEachTest } from '../cleanup.ts'
import { journal, open } from '../journeys/support.ts'
import type { ModelServer, Seen } from '../models/model-server.ts'
import { answerSchema, query } from './agent-parts.ts'
import { chatServer, type Turn } from './chat-server.ts'

export { answerSchema, draft, envelope, query } from './agent-parts.ts'

export const mail = {
  type: 'object',
  properties: { to: { type: 'string' }, amount: { type: 'number' } },
  required: ['to', 'amount'],
  additionalProperties: false,
} as const

const receipt = {
  type: 'object',
  properties: { receipt: { type: 'string' } },
  required: ['receipt'],
} as const
const hits = { type: 'object', properties: { hits: { type: 'array' } }, required: ['hits'] } as const

/** What was called, with which key. */
export interface Called {
  readonly tool: string
  readonly inputs: Json
  readonly key: string
}

/** A tool that only reads, and one that changes the world. */
export function makeTools(more: { readonly approval?: Approval; readonly run?: () => never } = {}) {
  const called: Called[] = []
  const search = tool({
    id: 'search',
    description: 'Searches',
    input: query,
    output: hits,
    idempotent: true,
    run: (inputs, { idempotencyKey }) => {
      called.push({ tool: 'search', inputs, key: idempotencyKey })
      return { hits: [`about ${inputs.query}`] }
    },
  })
  const send = tool({
    id: 'send',
    description: 'Sends',
    input: mail,
    output: receipt,
    sideEffect: true,
    run: (inputs: Json, { idempotencyKey }: { readonly idempotencyKey: string }) => {
      called.push({ tool: 'send', inputs, key: idempotencyKey })
      return { receipt: `r${called.length}` }
    },
    ...more,
  })
  return { called, search, send }
}

export function agent(tools: readonly AgentToolInput[], limits?: AgentLimits): DefinedCapability {
  return defineAgent({
    id: 'researcher',
    model: 'compatible/scripted',
    instructions: 'Find out.',
    input: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] },
    output: answerSchema,
    tools,
    ...(limits && { limits }),
  })
}

export const done = { text: JSON.stringify({ answer: 'Because', sources: ['a'] }) } as const

const servers: ModelServer[] = []
afterEachTest(async () => {
  for (const server of servers.splice(0)) await server.close()
})

export async function serve(script: (turn: number, seen: Seen) => Turn): Promise<ModelServer> {
  const server = await chatServer(script)
  servers.push(server)
  return server
}

export function openWith(
  server: ModelServer,
  capabilities: readonly DefinedCapability[],
  more: AppOptions = {},
): Promise<App> {
  return open({ providers: [compatible({ baseURL: server.url })], capabilities, ...more })
}

export async function loopTypes(app: App, runId: string): Promise<string[]> {
  const types = (await journal(app, runId)).map(({ type }) => type)
  return types.filter((type) => /^(turn|tool)_/.test(type))
}
