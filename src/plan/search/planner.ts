/** The search as a planner: what `createApp` uses when nobody hands in another. */
import type { Planner } from '../../domain/ports/planner.ts'
import type { SearchRequest } from './request.ts'
import { search } from './search.ts'

export function searchPlanner(options: Pick<SearchRequest, 'cutoff'> = {}): Planner {
  return {
    name: 'search',
    deterministic: true,
    async draft({ signal, ...request }) {
      signal.throwIfAborted()
      return search({ ...request, ...options }).draft
    },
  }
}
