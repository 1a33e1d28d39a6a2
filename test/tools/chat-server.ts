/**
 * A scripted model that speaks OpenAI's chat format and is as strict as the real one: every tool call has its result in the
 * next messages, in order, and arguments are texts of JSON objects.
 */
import { type ModelServer, modelServer, type Seen } from '../models/model-server.ts'

export interface Call {
  readonly name: string
  readonly input: unknown
  readonly id?: string
}

/** What the model does in a turn: calls, or text. */
export type Turn =
  | { readonly calls: readonly Call[]; readonly text?: string; readonly finish?: string }
  | { readonly text: string; readonly finish?: string }

interface Message {
  readonly role: string
  readonly content?: unknown
  readonly tool_call_id?: string
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
}

/** Points of a request: it has arrived, and half of its answer is sent. */
type Point = 'asked' | 'answering'

/**
 * `script` gets the number of assistant messages so far, so that the same conversation gets the same answer. `proceed` is
 * asked at each point of a request: after `false`, nothing more is sent.
 */
export function chatServer(
  script: (turn: number, seen: Seen) => Turn,
  proceed: (point: Point, turn: number) => boolean = () => true,
): Promise<ModelServer> {
  return modelServer<{ readonly body: object }>(
    (seen) => {
      const wrong = refusal(seen)
      if (wrong !== undefined) return { status: 400, body: { error: { message: wrong } } }
      const turn = turnOf(seen)
      return { body: toBody(script(turn, seen), turn) }
    },
    ({ body }, seen, response) => {
      if (!proceed('asked', turnOf(seen))) return
      const text = JSON.stringify(body)
      response.writeHead(200, { 'content-type': 'application/json' }).write(text.slice(0, text.length / 2))
      if (proceed('answering', turnOf(seen))) response.end(text.slice(text.length / 2))
    },
  )
}

function turnOf(seen: Seen): number {
  return messagesOf(seen).filter(({ role }) => role === 'assistant').length
}

export function messagesOf({ body }: Seen): readonly Message[] {
  return body['messages'] as readonly Message[]
}

/** What the model reads of its calls, in order. */
export function resultsIn(seen: Seen | undefined): readonly unknown[] {
  return seen ? messagesOf(seen).flatMap(({ role, content }) => (role === 'tool' ? [content] : [])) : []
}

function refusal(seen: Seen): string | undefined {
  let open: string[] = []
  for (const { role, tool_calls: calls = [], tool_call_id: id } of messagesOf(seen)) {
    if (role === 'tool' && open.shift() !== id) return `the result ${id} does not follow its call`
    if (role !== 'tool' && open.length > 0) return `the calls ${open.join(', ')} have no result`
    for (const { function: called } of calls) {
      try {
        if (typeof JSON.parse(called.arguments) !== 'object') return 'arguments are encoded twice'
      } catch {
        return 'arguments are no JSON'
      }
    }
    if (role === 'assistant') open = calls.map((call) => call.id)
    if (new Set(open).size < open.length) return 'two calls have the same id'
  }
  return open.length > 0 ? `the calls ${open.join(', ')} have no result` : undefined
}

function toBody(turn: Turn, index: number): object {
  const calls = 'calls' in turn ? turn.calls : []
  const message = {
    role: 'assistant',
    content: turn.text ?? null,
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ name, input, id }, position) => ({
        id: id ?? `call_${index}_${position}`,
        type: 'function',
        function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
      })),
    }),
  }
  const finish_reason = turn.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, message, finish_reason }],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  }
}
