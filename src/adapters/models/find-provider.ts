/** Who provides a model: the provider of that name, or one that answers for all. */
import type { Provider } from '../../domain/ports/provider.ts'
import { parseModelId } from '../providers/model-id.ts'

export function findProvider(providers: readonly Provider[], model: string): Provider | undefined {
  const { provider } = parseModelId(model)
  return providers.find(({ name }) => name === provider) ?? providers.find(({ name }) => name === '*')
}
