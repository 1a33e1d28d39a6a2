/**
 * What was handed to the door as it came from outside. The room trusts what it gets, so an envelope without its defaults or a
 * capability still wrapped by `defineCapability` would only show as a broken check; here it is told with what to do.
 */
import { isObject } from '../base/json.ts'
import type { ProveRequest } from './request.ts'

interface Unread {
  /** What ought to be so. */
  readonly wanted: string
  readonly hint: string
}

/** The first part of a request that nobody has read yet. */
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
