/**
 * Detects input that was passed without parsing. This module trusts its input, so an envelope without defaults or a
 * capability still wrapped by `defineCapability` would only show as a failing check; this reports it with a hint.
 */
import { isObject } from '../../base/json.ts'
import type { ProveRequest } from './proof-request.ts'

interface UnparsedInput {
  /** The requirement that is violated. */
  readonly wanted: string
  readonly hint: string
}

/** Detects a draft that is not an object with nodes, such as the text that a planner returned. */
export function findUnparsedDraft({ draft }: Pick<ProveRequest, 'draft'>): UnparsedInput | undefined {
  if (isObject(draft) && Array.isArray(draft.nodes)) return undefined
  const got =
    draft === null
      ? 'null'
      : Array.isArray(draft)
        ? 'a list'
        : isObject(draft)
          ? 'an object without `nodes`'
          : `a ${typeof draft}`
  return {
    wanted: `the draft is an object with a list of nodes, not ${got}`,
    hint: 'Return { nodes: [{ id, capabilityId }] } from the planner, or pass such a draft',
  }
}

/** Returns the first part of a request that was not parsed. */
export function findUnparsedInput(
  request: Pick<ProveRequest, 'envelope' | 'facets' | 'capabilities'>,
): UnparsedInput | undefined {
  return rows.find(({ isParsed }) => !isParsed(request ?? {}))
}

const rows: readonly (UnparsedInput & {
  readonly isParsed: (request: Parameters<typeof findUnparsedInput>[0]) => boolean
})[] = [
  {
    wanted: 'the envelope was parsed, with its defaults filled in',
    hint: 'Pass the `value` of parseEnvelope(envelope); createApp parses it by itself',
    isParsed: ({ envelope }) =>
      isObject(envelope) &&
      isObject(envelope.inputs) &&
      isObject(envelope.constraints) &&
      Array.isArray(envelope.specialInstructions) &&
      isObject(envelope.policies?.planner) &&
      Array.isArray(envelope.policies.runtime) &&
      Array.isArray(envelope.outputContract?.constraints),
  },
  {
    wanted: 'facets is a list',
    hint: 'Pass [], or the facets of a preset such as proviso/presets/marketing',
    isParsed: ({ facets }) => Array.isArray(facets),
  },
  {
    wanted: 'capabilities is a list of parsed capabilities',
    hint: 'For the result of defineCapability pass its `capability`, for external data the `value` of parseCapability',
    isParsed: ({ capabilities }) =>
      Array.isArray(capabilities) &&
      capabilities.every(
        (each) => isObject(each) && typeof each.capabilityId === 'string' && 'nodeKind' in each,
      ),
  },
]
