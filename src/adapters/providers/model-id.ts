/** Names of models: `provider/model`; a bare id is OpenAI's, `openai:x` is accepted, and `compatible/URL#model` names a server. */
import { providerTable } from './provider-table.ts'

export interface ModelId {
  readonly provider: string
  /** As the provider knows it; for `compatible` the URL comes before the `#`. */
  readonly model: string
}

/** Providers whose name may also precede a colon; other ids contain colons themselves (`ft:gpt-4o:acme`). */
const colonNames: ReadonlySet<string> = new Set([...Object.keys(providerTable), 'rehearsal'])

/**
 * @example
 * parseModelId('openai/gpt-5-mini') // { provider: 'openai', model: 'gpt-5-mini' }
 * parseModelId('compatible/http://127.0.0.1:11434/v1#llama3.2:3b')
 */
export function parseModelId(id: string): ModelId {
  const mark = /^([a-z][a-z0-9-]*)([/:])(.+)$/s.exec(id)
  const [, provider = '', sign, model = ''] = mark ?? []
  if (mark && (sign === '/' || colonNames.has(provider))) return { provider, model }
  return { provider: 'openai', model: id }
}
