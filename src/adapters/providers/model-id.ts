/** Names of models: `provider/model`; a bare id is OpenAI's, `openai:x` is accepted, and `compatible/URL#model` names a server. */

export interface ModelId {
  readonly provider: string
  /** As the provider knows it; for `compatible` the URL comes before the `#`. */
  readonly model: string
}

/** Providers whose name may also precede a colon; other ids contain colons themselves (`ft:gpt-4o:acme`). */
const colonNames: ReadonlySet<string> = new Set(['openai', 'anthropic', 'google', 'compatible', 'rehearsal'])

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

/** The two halves of `URL#model`. */
export function splitServer(model: string): { readonly baseURL?: string; readonly model: string } {
  const hash = model.lastIndexOf('#')
  if (!/^https?:\/\//.test(model) || hash < 0) return { model }
  return { baseURL: model.slice(0, hash), model: model.slice(hash + 1) }
}
