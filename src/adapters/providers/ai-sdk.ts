import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, type Json } from '../../base/json.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import type { AiSdkModel } from './call/as-v3.ts'
import { anthropicEffort, googleEffort, openaiEffort, type ToEffort } from './call/model-settings.ts'
import { sdkProvider } from './call/sdk-provider.ts'
import type { DialectName } from './structured-output/dialects.ts'

export type { AiSdkModel }

export interface AiSdkOptions {
  /** The part of the models' names before the slash. Default: the first model's provider, up to the first dot. */
  readonly name?: string
  /** Passed to every call as they are, such as `{ openai: { reasoningEffort: 'low' } }`. */
  readonly providerOptions?: { [provider: string]: { [option: string]: Json } }
  /** Keys of the models, to be kept out of messages and journals. */
  readonly secrets?: readonly string[]
}

/**
 * Makes a provider from one model of the AI SDK, or from several of the same provider. Their names are `name/modelId`, and
 * the first is the default model of an app with this provider.
 *
 * @example
 * const app = await createApp({ providers: [fromAiSdk(mistral('mistral-large-latest'))] })
 */
export function fromAiSdk(
  models: AiSdkModel | readonly AiSdkModel[],
  { name, providerOptions, secrets = [] }: AiSdkOptions = {},
): Provider {
  const all: readonly AiSdkModel[] = Array.isArray(models) ? models : [models as AiSdkModel]
  const [first] = all
  for (const [index, model] of all.entries()) requireModel(model, index)
  if (first === undefined)
    throw new ProvisoError('option/invalid', 'fromAiSdk needs at least one model', {
      hint: "Pass a model of the AI SDK, such as openai('gpt-5-mini')",
    })
  const prefix = name ?? namePart(first.provider)
  if (!/^[a-z][a-z0-9-]*$/.test(prefix))
    throw new ProvisoError('option/invalid', `"${prefix}" cannot be the name of a provider`, {
      hint: 'Set `name` to small letters, digits and hyphens',
    })
  const byId = new Map(all.map((model) => [model.modelId, model]))
  const vendor = namePart(first.provider)
  const provider = sdkProvider({
    name: prefix,
    dialect: findDialect(vendor),
    // Anthropic's package has no mode for JSON without a schema.
    ...(vendor === 'anthropic' && { jsonObject: false }),
    ...(!['openai', 'anthropic', 'google'].includes(vendor) && { unsure: true }),
    // The model itself refuses what it does not take.
    files: /./,
    secrets,
    model(id) {
      const found = byId.get(id)
      if (found) return found
      throw new Error(`"${prefix}" has the models ${[...byId.keys()].join(', ')}, not "${id}"`)
    },
    optionsName: vendor,
    ...(efforts[vendor] && { toEffort: efforts[vendor] }),
    // The package's type has mutable lists; nothing changes them.
    ...(providerOptions && { extras: () => providerOptions as never }),
  })
  return { ...provider, models: [...byId.keys()] }
}

function requireModel(model: unknown, index: number): asserts model is AiSdkModel {
  const versions = ['v2', 'v3', 'v4']
  if (isObject(model) || typeof model === 'function') {
    const { specificationVersion: version, modelId, doGenerate, doStream } = model as Partial<AiSdkModel>
    const isWhole =
      typeof modelId === 'string' && typeof doGenerate === 'function' && typeof doStream === 'function'
    if (isWhole && versions.includes(String(version))) return
    if (isWhole)
      throw new ProvisoError(
        'option/invalid',
        `The model "${modelId}" has the interface ${JSON.stringify(version)} of the AI SDK, not ${versions.join(', ')}`,
        { hint: 'Update the package of the model, or proviso', at: { pointer: `/${index}` } },
      )
  }
  throw new ProvisoError('option/invalid', 'What was passed to fromAiSdk is not a model of the AI SDK', {
    hint: "Pass a language model object, such as openai('gpt-5-mini'), not its name",
    at: { pointer: `/${index}` },
  })
}

const efforts: Readonly<Record<string, ToEffort>> = {
  openai: openaiEffort,
  anthropic: anthropicEffort,
  google: googleEffort,
}

/** `openai.responses` is a model of `openai`. */
function namePart(provider: string): string {
  return provider.split('.')[0]?.toLowerCase() ?? provider
}

/** The dialect of JSON Schema that a vendor takes. OpenAI's is the strictest, so other servers understand it as well. */
function findDialect(vendor: string): DialectName {
  if (vendor === 'anthropic' || vendor === 'google') return vendor
  return 'openai'
}
