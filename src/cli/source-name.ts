/** Where a value comes from, for people. */
import type { Source } from '../domain/plan.ts'

export function sourceName(source: Source): string {
  if ('node' in source) return source.node
  return 'envelope' in source ? `the envelope, ${source.envelope}` : 'a fixed value'
}
