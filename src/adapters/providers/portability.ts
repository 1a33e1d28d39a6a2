/** What each provider makes of a schema, side by side: for `proviso schema portability` and whoever chooses a provider. */
import type { JsonSchema } from '../../schema/json-schema.ts'
import { type DialectName, dialects } from './dialects.ts'
import { lowerSchema } from './lower-schema.ts'
import type { LoweringNote } from './lowering-walk.ts'

export interface Portability {
  readonly provider: DialectName
  /** `enforced`: all of it is held to; `weakened`: some keywords are only checked afterwards; `refused`: the schema goes into the prompt. */
  readonly verdict: 'enforced' | 'weakened' | 'refused'
  readonly notes: readonly LoweringNote[]
  /** What would be sent; absent when it is refused. */
  readonly schema?: JsonSchema
}

/**
 * @example
 * portability({ type: 'object', properties: { a: { type: 'string', minLength: 2 } } })[0]?.verdict // 'weakened'
 */
export function portability(schema: JsonSchema): readonly Portability[] {
  return Object.values(dialects).map((dialect) => {
    const { schema: lowered, notes } = lowerSchema(schema, dialect)
    const weakened = notes.some(({ kind }) => kind === 'weakened')
    return {
      provider: dialect.name,
      verdict: lowered === undefined ? 'refused' : weakened ? 'weakened' : 'enforced',
      notes,
      ...(lowered && { schema: lowered }),
    }
  })
}
