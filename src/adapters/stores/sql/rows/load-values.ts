/** Loads the large values that texts refer to, recursively. */
import { references } from '../../shared/codec.ts'
import type { ReadStatements } from '../statements/read-statements.ts'
import { askAll, type Row, type Steps } from '../steps.ts'
import { toChunks } from './chunk.ts'
import type { Values } from './rows.ts'

const none: Values = new Map()

export function* loadValues(
  rows: readonly object[],
  statements: Pick<ReadStatements, 'values'>,
): Steps<Values> {
  let wanted = new Set((rows as readonly Row[]).flatMap(rowReferences))
  if (wanted.size === 0) return none
  const values = new Map<string, string>()
  while (wanted.size > 0) {
    const found = yield* askAll<{ hash: string; body: string }>(
      toChunks(wanted).map((hashes) => statements.values({}, hashes)),
    )
    for (const { hash, body } of found) values.set(hash, body)
    // `decode` reports missing values when they are needed; loading again would not help.
    wanted = new Set(found.flatMap(({ body }) => references(body)).filter((hash) => !values.has(hash)))
  }
  return values
}

function rowReferences(row: Row): string[] {
  return Object.values(row).flatMap((value) => (typeof value === 'string' ? references(value) : []))
}
