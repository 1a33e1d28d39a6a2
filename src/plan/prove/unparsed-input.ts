/**
 * Detects input that was passed without parsing. This module trusts its input, so an envelope without defaults or a
 * capability still wrapped by `defineCapability` would only show as a failing check; this reports it with a hint.
 */
import { isObject } from '../../base/json.ts'
import type { ProveRequest } from './proof-request.ts'

interface Unread {
  /** The requirement that is violated. */
  readonly wanted: string
  readonly hint: string
}

/** Detects a draft that is not an object with nodes, such as the text that a planner returned. */
export function unreadDraft({ draft }: Pick<ProveRequest, 'draft'>): Unread | undefined {
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
export function unreadOf(
  request: Pick<ProveRequest, 'envelope' | 'facets' | 'capabilities'>,
): Unread | undefined {
  return rows.find(({ isRead }) => !isRead(request ?? {}))
}

const rows: readonly (Unread & { readonly isRead: (request: Parameters<typeof unreadOf>[0]) => boolean })[] =
  [
    {
      wanted: 'the envelope was read, with its defaults filled in',
      hint: 'Hand in the `value` of parseEnvelope(envelope); createApp does it by itself',
      isRead: ({ envelope }) =>
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
      isRead: ({ facets }) => Array.isArray(facets),
    },
    {
      wanted: 'capabilities is a list of capabilities that were read',
      hint: 'Of what defineCapability returns, hand in its `capability`; of data from outside, the `value` of parseCapability',
      isRead: ({ capabilities }) =>
        Array.isArray(capabilities) &&
        capabilities.every(
          (each) => isObject(each) && typeof each.capabilityId === 'string' && 'nodeKind' in each,
        ),
    },
  ]
