/**
 * The developer sandbox (FLEX-104…107): shows what can be planned with, and drafts an envelope in a conversation. The routes
 * exist only if the flag is on. Nothing is stored, and the catalog is not changed.
 */

import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, type Json, own } from '../../base/json.ts'
import { type Clock, systemClock } from '../../base/time/clock.ts'
import { closed, map, text } from '../../domain/schemas/parts.ts'
import { draftRules, plannerPrompt } from '../../plan/index.ts'
import { refusal } from '../problem.ts'
import type { Answer, Caller, Route } from '../route.ts'
import type { Draft } from '../sandbox/apply-patches.ts'
import {
  type Asked,
  askAssistant,
  findIssues,
  type Generate,
  type Turn,
  unchanged,
} from '../sandbox/assistant.ts'
import {
  type Conversation,
  type Conversations,
  conversationLimits,
  createConversations,
} from '../sandbox/conversations.ts'
import type { ServedApp } from '../served.ts'
import { api, iso, ok, refusals } from './parts.ts'

export interface SandboxOptions {
  readonly generate: Generate
  /** Folder of the `flex-*.json` templates. Default `tmp`. */
  readonly templateDir?: string
  readonly clock?: Pick<Clock, 'now'>
}

/** Path prefix of the sandbox routes. */
const base = `${api}/sandbox`
const longestMessage = 8_000
const bodyLimit = 512 * 1024

export function sandboxRoutes(options: SandboxOptions): readonly Route[] {
  const { generate, templateDir = 'tmp', clock = systemClock } = options
  const conversations = createConversations(clock)
  return [
    metadataRoute(templateDir),
    startRoute(conversations, generate),
    respondRoute(conversations, generate),
  ]
}

const things = { type: 'array', items: { type: 'object' } } as const

function metadataRoute(templateDir: string): Route {
  return {
    method: 'GET',
    path: `${base}/metadata`,
    operation: 'sandboxMetadata',
    summary: 'Get facets, capabilities, the planner prompt and envelope templates',
    roles: ['caller', 'operator'],
    replies: {
      200: ok('Facets, capabilities, prompt and templates', {
        type: 'object',
        required: ['facets', 'capabilities', 'prompts', 'templates'],
        properties: {
          facets: things,
          capabilities: {
            type: 'object',
            required: ['active', 'all'],
            properties: { active: things, all: things },
          },
          prompts: {
            type: 'object',
            required: ['system', 'rules'],
            properties: { system: { type: 'string' }, rules: { type: 'array', items: { type: 'string' } } },
          },
          templates: {
            type: 'array',
            items: { type: 'object', required: ['name'], properties: { name: text } },
          },
        },
      }),
      ...refusals(),
    },
    async handle({ caller }, { app }) {
      await app.agents?.update(caller.tenant)
      const known = app.capabilities(caller.tenant)
      const active = known.map(({ settings: _, ...shown }) => ({ ...shown, status: 'active' }))
      const silent = await findInactive(app, caller)
      const facets = app.facets()
      const metadata = {
        facets,
        capabilities: { active, all: [...active, ...silent] },
        prompts: { system: plannerPrompt(facets, known), rules: draftRules },
        templates: await readTemplates(templateDir),
      }
      // Plain data; the redactor preserves the shape.
      return { status: 200, body: app.redactor.value(metadata) as Json }
    },
  }
}

/** Returns registered agents whose heartbeat is overdue. */
async function findInactive({ store }: ServedApp, { tenant }: Caller): Promise<readonly Json[]> {
  const rows = await store.records.registrations.list({ tenant })
  return rows
    .filter(({ status }) => status === 'inactive')
    .map(({ capabilityId, payload }) => {
      // As registered: the capability, with its compiled contracts.
      const capability = isObject(payload) ? own(payload, 'capability') : undefined
      return { ...(capability as object | undefined), capabilityId, status: 'inactive' } as Json
    })
}

const turnSchema = {
  type: 'object',
  required: [
    'conversationId',
    'expiresAt',
    'messagesLeft',
    'envelope',
    'reply',
    'patches',
    'missingFields',
    'warnings',
    'valid',
    'issues',
  ],
  properties: {
    conversationId: text,
    expiresAt: { type: 'string', format: 'date-time' },
    messagesLeft: { type: 'integer', minimum: 0 },
    envelope: { type: 'object' },
    reply: { type: 'string' },
    patches: things,
    summary: { type: 'string' },
    missingFields: { type: 'array', items: { type: 'string' } },
    warnings: { type: 'array', items: { type: 'string' } },
    valid: { type: 'boolean' },
    issues: things,
  },
} as const

const message = { type: 'string', minLength: 1, maxLength: longestMessage, pattern: '\\S' } as const

function startRoute(conversations: Conversations, generate: Generate): Route {
  return {
    method: 'POST',
    path: `${base}/envelope/conversation/start`,
    operation: 'startSandboxConversation',
    takesLong: true,
    summary: 'Start a conversation that drafts an envelope; kept in memory for 30 minutes, never stored',
    roles: ['caller', 'operator'],
    body: { anyOf: [{ type: 'null' }, closed({ message, envelope: map })] },
    bodyLimit,
    replies: { 200: ok('The conversation and its first reply', turnSchema), ...refusals(413, 415, 422) },
    async handle({ caller, body, signal, onAccepted }, { app }) {
      // The rest waits for a model.
      onAccepted()
      const given = (body ?? {}) as { readonly message?: string; readonly envelope?: Draft }
      const conversation = conversations.begin(toOwner(caller), given.envelope ?? {})
      if (given.message !== undefined)
        return converse(conversations, conversation, { message: given.message, generate, app, signal })
      return toAnswer(
        conversation,
        unchanged(conversation.draft, 'What should be made, and in which form?', []),
        app,
      )
    },
  }
}

function respondRoute(conversations: Conversations, generate: Generate): Route {
  return {
    method: 'POST',
    path: `${base}/envelope/conversation/:conversationId/respond`,
    operation: 'respondInSandboxConversation',
    takesLong: true,
    summary: 'Send a message to the assistant; an envelope in the request replaces the draft first',
    roles: ['caller', 'operator'],
    params: closed({ conversationId: text }, ['conversationId']),
    body: closed({ message, envelope: map }, ['message']),
    bodyLimit,
    replies: {
      200: ok('The reply, and the draft with its changes', turnSchema),
      ...refusals(404, 409, 413, 415, 422),
    },
    async handle({ caller, params, body, signal, onAccepted }, { app }) {
      // The rest waits for a model.
      onAccepted()
      const found = conversations.find(toOwner(caller), params['conversationId'] ?? '')
      if (!found)
        return refusal('route/missing', 'Conversation not found, or expired', {
          hint: 'Start a new conversation and pass the envelope you have',
        })
      const given = body as unknown as { readonly message: string; readonly envelope?: Draft }
      const conversation = given.envelope ? { ...found, draft: given.envelope } : found
      return converse(conversations, conversation, { message: given.message, generate, app, signal })
    },
  }
}

function toOwner({ tenant, tokenId, familyId = tokenId }: Caller): string {
  return `${tenant}\n${familyId}`
}

async function converse(
  conversations: Conversations,
  conversation: Conversation,
  given: {
    readonly message: string
    readonly generate: Generate
    readonly app: ServedApp
    readonly signal: AbortSignal
  },
) {
  const { message: said, generate, app, signal } = given
  if (conversation.messages.length + 2 > conversationLimits.messages)
    return refusal('run/state', `A conversation must have at most ${conversationLimits.messages} messages`, {
      hint: 'Start a new conversation with the envelope you have',
    })
  const messages = [...conversation.messages, { from: 'operator' as const, text: said }]
  const turn: Asked = await askAssistant({
    generate,
    draft: conversation.draft,
    messages,
    redactor: app.redactor,
    signal,
  })
  if ('throttled' in turn)
    return refusal('rate/limit', 'The model provider limits requests', {
      hint: 'Retry after the number of seconds in Retry-After',
      headers: { 'retry-after': String(Math.ceil(turn.retryAfterMs / 1000)) },
    })
  const kept = conversations.keep({
    ...conversation,
    draft: turn.draft,
    messages: [...messages, { from: 'assistant', text: turn.reply }],
  })
  return toAnswer(kept, turn, app)
}

function toAnswer(
  { id, draft, messages, expiresAt }: Conversation,
  { reply, patches, summary, missingFields, warnings }: Turn,
  { redactor }: ServedApp,
): Answer {
  const issues = findIssues(draft)
  const body = {
    conversationId: id,
    expiresAt: iso(expiresAt),
    messagesLeft: conversationLimits.messages - messages.length,
    envelope: draft,
    reply,
    patches,
    ...(summary !== undefined && { summary }),
    missingFields,
    warnings,
    valid: issues.length === 0,
    issues,
  }
  // The draft is the operator's own and is returned unchanged; the rest may quote it, so it is redacted.
  return { status: 200, body: { ...(redactor.value(body) as { [key: string]: Json }), envelope: draft } }
}

const templateLimits = { files: 100, bytes: 256 * 1024 } as const

interface Template {
  readonly [key: string]: Json
  readonly name: string
}

/**
 * Reads envelope templates: the files `flex-*.json` of one folder, within limits; a missing folder has none. A broken file is
 * reported and does not affect others.
 */
async function readTemplates(dir: string): Promise<readonly Template[]> {
  const names = await readdir(dir).catch(() => [])
  const files = names.filter((name) => /^flex-[\w.-]+\.json$/.test(name)).sort()
  return Promise.all(files.slice(0, templateLimits.files).map((name) => readTemplate(dir, name)))
}

async function readTemplate(dir: string, file: string): Promise<Template> {
  const name = file.replace(/\.json$/, '')
  try {
    const text = await readBounded(join(dir, file))
    if (text === undefined) return { name, issue: `The file is longer than ${templateLimits.bytes} bytes` }
    const envelope: unknown = JSON.parse(text)
    return isObject(envelope)
      ? { name, envelope: envelope as Json }
      : { name, issue: 'The file must hold a JSON object' }
  } catch {
    return { name, issue: 'Cannot read the file as JSON' }
  }
}

async function readBounded(path: string): Promise<string | undefined> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    return size > templateLimits.bytes ? undefined : await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
