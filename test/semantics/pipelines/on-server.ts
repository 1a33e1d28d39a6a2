/** Runs a pipeline written in YAML against a scripted model server, and returns the prompts that the server received. */
import { createApp, type DefinedCapability } from '../../../src/app.ts'
import type { Json } from '../../../src/base/json.ts'
import { arosConfig, compilePipeline, describeSourceIssue } from '../../../src/pipeline/index.ts'
import { openAiServer } from '../../models/openai-server.ts'
import { readPipeline } from '../../pipelines/support.ts'

export interface Asked {
  readonly model: string
  readonly system: string
  readonly prompt: string
  readonly maxTokens?: number
}

/** What the server answers to a request. */
export type Answer = (asked: Asked) => string

export interface ServerRun {
  readonly status: string
  readonly output?: Json
  readonly asked: readonly Asked[]
  readonly logs: readonly { readonly event: string; readonly payload: { readonly [key: string]: Json } }[]
}

export interface ServerRunOptions {
  readonly answer: Answer
  readonly input?: Json
  readonly aros?: Parameters<typeof arosConfig>[0]
  readonly own?: readonly DefinedCapability[]
}

export async function runOnServer(yaml: string, options: ServerRunOptions): Promise<ServerRun> {
  const { answer, input = null, aros = {}, own = [] } = options
  const asked: Asked[] = []
  const server = await openAiServer(({ body }) => {
    const request = readRequest(body)
    asked.push(request)
    return { text: answer(request) }
  })
  const compiled = compilePipeline(readPipeline(yaml), {
    input,
    aros: arosConfig(aros),
    capabilities: own.map(({ capability }) => capability),
  })
  if (!compiled.ok) throw new Error(compiled.issues.map(describeSourceIssue).join('\n'))
  const { envelope, draft, capabilities } = compiled.compiled
  const app = await createApp({
    env: { compatibleBaseUrl: server.url, compatibleApiKey: 'k' },
    defaultModel: 'compatible/default',
    capabilities: [...capabilities, ...own] as DefinedCapability[],
  })
  try {
    const result = await app.run(envelope, { draft })
    const events = await app.store.read(result.runId, 0)
    const logs = events.flatMap((event) =>
      event.type === 'log' ? [{ event: event.payload.event, payload: event.payload.payload ?? {} }] : [],
    )
    return { ...result, asked, logs }
  } finally {
    await app.close()
    await server.close()
  }
}

function readRequest(body: Record<string, unknown>): Asked {
  const messages = body['messages'] as { role: string; content: string }[]
  const said = (role: string) => messages.filter((each) => each.role === role).map((each) => each.content)
  const most = body['max_completion_tokens'] ?? body['max_tokens']
  return {
    model: String(body['model']),
    system: said('system').join('\n'),
    prompt: said('user').join('\n'),
    ...(typeof most === 'number' && { maxTokens: most }),
  }
}
