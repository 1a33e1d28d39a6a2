/** Compares how each provider supports a schema: for `proviso schema portability`, and for choosing a provider. */
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { type DialectName, dialects } from './dialects.ts'
import { lowerSchema } from './lower-schema.ts'
import type { LoweringNote } from './lowering-walk.ts'

export interface Portability {
  readonly provider: DialectName
  /** `enforced`: fully enforced; `weakened`: some keywords are only checked after the call; `refused`: the schema goes into the prompt. */
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
