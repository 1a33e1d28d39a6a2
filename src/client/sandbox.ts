/** The developer sandbox over the API: what can be planned with, and a conversation that drafts an envelope. */
import { api, type Transport } from './transport.ts'
import type { SandboxMetadata, SandboxTurn } from './types.ts'

export interface SandboxMessage {
  /** What to change; absent in `start`: the assistant asks. */
  readonly message?: string
  /** Replaces the draft of the conversation first. */
  readonly envelope?: { readonly [name: string]: unknown }
  readonly signal?: AbortSignal
}

export interface SandboxClient {
  /** Facets, capabilities, the prompt of the planner and the templates of the server. */
  metadata(options?: { readonly signal?: AbortSignal }): Promise<SandboxMetadata>
  start(message?: SandboxMessage): Promise<SandboxTurn>
  respond(
    conversationId: string,
    message: SandboxMessage & { readonly message: string },
  ): Promise<SandboxTurn>
}

export function createSandboxClient(transport: Transport): SandboxClient {
  const base = `${api}/sandbox`
  // Sent once: a throttled model is reported to the person, who decides when to try again.
  const post = async (path: string, { signal, ...body }: SandboxMessage): Promise<SandboxTurn> => {
    const response = await transport.send(`${base}/envelope/conversation/${path}`, {
      method: 'POST',
      body,
      signal,
    })
    // The route decides the type.
    return (await response.json()) as SandboxTurn
  }
  return {
    metadata: ({ signal } = {}) => transport.json<SandboxMetadata>(`${base}/metadata`, { signal }),
    start: (message = {}) => post('start', message),
    respond: (conversationId, message) => post(`${encodeURIComponent(conversationId)}/respond`, message),
  }
}
