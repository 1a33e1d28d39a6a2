/** The wire formats of the providers: how each is reached at an address, and how its server says a text or a refusal. */
import { anthropic } from '../../src/adapters/providers/anthropic.ts'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { google } from '../../src/adapters/providers/google.ts'
import { openai } from '../../src/adapters/providers/openai.ts'
import type { Provider } from '../../src/index.ts'

export interface Wire {
  readonly name: string
  readonly model: string
  readonly provider: (url: string) => Provider
  readonly says: (text: string) => object
  readonly refuses: () => object
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

const chat = (message: object) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
  usage,
})

const responses = (part: object) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  incomplete_details: null,
  output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part] }],
  usage: {
    input_tokens: 10,
    output_tokens: 5,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  },
})

const message = (text: string, stop_reason: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text }],
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
})

const candidate = (text: string, finishReason: string) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason, index: 0 }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
})

const apiKey = 'sk-conformance-key'

export const wires: readonly Wire[] = [
  {
    name: 'openai',
    model: 'openai/gpt-5-mini',
    provider: (url) => openai({ apiKey, baseURL: `${url}/v1` }),
    says: (text) => responses({ type: 'output_text', text, annotations: [] }),
    refuses: () => responses({ type: 'refusal', refusal: 'No.' }),
  },
  {
    name: 'openai chat',
    model: 'openai/gpt-4o',
    provider: (url) => openai({ apiKey, baseURL: `${url}/v1`, api: 'chat' }),
    says: (content) => chat({ content }),
    refuses: () => chat({ content: null, refusal: 'No.' }),
  },
  {
    name: 'anthropic',
    model: 'anthropic/claude-sonnet-4-5',
    provider: (url) => anthropic({ apiKey, baseURL: `${url}/v1` }),
    says: (text) => message(text, 'end_turn'),
    refuses: () => message('No.', 'refusal'),
  },
  {
    name: 'google',
    model: 'google/gemini-2.5-flash',
    provider: (url) => google({ apiKey, baseURL: `${url}/v1beta` }),
    says: (text) => candidate(text, 'STOP'),
    refuses: () => candidate('', 'SAFETY'),
  },
  {
    name: 'compatible',
    model: 'compatible/m',
    provider: (url) => compatible({ baseURL: `${url}/v1` }),
    says: (content) => chat({ content }),
    refuses: () => chat({ content: null, refusal: 'No.' }),
  },
]
