/** Shows the requests of models before they are sent: complete, and redacted as every prompt is before it reaches a provider. */
import { type FileReference, toReferences } from '../../domain/content/file-value.ts'
import type { ModelRequest, Provider, StructuredOutcome } from '../../domain/ports/provider.ts'

/** A request as the provider gets it. */
export interface Prompt
  extends Pick<
    ModelRequest,
    'system' | 'messages' | 'tools' | 'toolChoice' | 'schema' | 'maxOutputTokens' | 'settings'
  > {
  /** `provider/model`. */
  readonly model: string
  /** What the user says; absent in a conversation, whose `messages` have it. */
  readonly prompt?: string
  /** Files that are sent with the first message, without their data. */
  readonly files?: readonly FileReference[]
  /** How the schema is sent beside the words; absent if it is not. */
  readonly structured?: StructuredOutcome
}

/**
 * Wraps providers so that every request is shown before it is sent, also when it is sent again.
 *
 * @example
 * createApp({ providers: watchPrompts([openai({ apiKey })], ({ system, prompt }) => console.error(system, prompt)) })
 */
export function watchPrompts(
  providers: readonly Provider[],
  onPrompt: (prompt: Prompt) => void,
): readonly Provider[] {
  return providers.map((provider) => ({
    name: provider.name,
    ...(provider.models && { models: provider.models }),
    ...(provider.free && { free: provider.free }),
    ...(provider.tools && { tools: provider.tools }),
    ...(provider.structured && { structured: (request) => provider.structured?.(request) ?? none }),
    ...(provider.secrets && { secrets: () => provider.secrets?.() ?? [] }),
    ...(provider.takesFile && { takesFile: (file) => provider.takesFile?.(file) ?? false }),
    async generate(request: ModelRequest) {
      onPrompt(await toPrompt(provider, request))
      return provider.generate(request)
    },
  }))
}

const none: StructuredOutcome = { kind: 'skipped', reason: 'the provider has no JSON mode' }

async function toPrompt(provider: Provider, request: ModelRequest): Promise<Prompt> {
  const { model, system, prompt, messages, tools, toolChoice, schema, maxOutputTokens, settings } = request
  const { files = [] } = request
  const isRequested = schema !== undefined && (request.structured ?? 'off') !== 'off'
  const structured = isRequested ? await provider.structured?.(request) : undefined
  return {
    model: provider.name === '*' ? model : `${provider.name}/${model}`,
    system,
    ...(messages ? { messages } : { prompt }),
    ...(files.length > 0 && { files: toReferences(files) }),
    ...(tools && tools.length > 0 && { tools }),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(structured?.kind === 'applied' && { schema, structured }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(settings && { settings }),
  }
}
