/** Fetches the large values that texts refer to, and those that these refer to. */
import { references } from '../codec.ts'
import { pieces } from './pieces.ts'
import type { ReadStatements } from './read-statements.ts'
import type { Values } from './rows.ts'
import { askAll, type Row, type Steps } from './steps.ts'

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
      pieces(wanted).map((hashes) => statements.values({}, hashes)),
    )
    for (const { hash, body } of found) values.set(hash, body)
    // What is missing is told when it is needed (`decode`); asking again would not help.
    wanted = new Set(found.flatMap(({ body }) => references(body)).filter((hash) => !values.has(hash)))
  }
  return values
}

function rowReferences(row: Row): string[] {
  return Object.values(row).flatMap((value) => (typeof value === 'string' ? references(value) : []))
}
