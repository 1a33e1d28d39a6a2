/** Plays the features of schema libraries through `parse`: the rows of `npm run conformance -- libraries`. */
import { isDeepStrictEqual } from 'node:util'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { parse } from '../../../src/output/index.ts'
import { schemas as arktype } from './arktype.ts'
import { type Expected, type Feature, type Row, rows } from './rows.ts'
import type { Column } from './types.ts'
import { schemas as valibot } from './valibot.ts'
import { schemas as zod3 } from './zod-3.ts'
import { schemas as zod40 } from './zod-4.0.ts'
import { schemas as zod41 } from './zod-4.1.ts'
import { schemas as zod42 } from './zod-4.2.ts'
import { schemas as zod4 } from './zod-4.ts'

/** The packages by the names that they are installed under. */
export const columns: Readonly<Record<string, Column>> = {
  'zod-3': zod3,
  'zod-4.0': zod40,
  'zod-4.1': zod41,
  'zod-4.2': zod42,
  zod: zod4,
  valibot,
  arktype,
}

export interface Cell {
  readonly feature: Feature
  readonly library: string
  /** The texts that were read, by kind; empty when the library does not have the feature. */
  readonly read: readonly ('clean' | 'slipped' | 'refused')[]
  /** What is not as promised. */
  readonly differences: readonly string[]
}

export function playLibraries(
  libraries = Object.keys(columns),
  played: readonly Row[] = rows,
): readonly Cell[] {
  return played.flatMap((row) =>
    libraries.map((library) => {
      const schema = columns[library]?.[row.feature]
      const cell = { feature: row.feature, library }
      return schema === undefined
        ? { ...cell, read: [], differences: [] }
        : { ...cell, ...playCell(row, schema) }
    }),
  )
}

function playCell(
  { clean, slipped, refused }: Row,
  schema: StandardSchemaV1,
): Pick<Cell, 'read' | 'differences'> {
  const read: Cell['read'][number][] = []
  const differences: string[] = []
  if (clean) {
    read.push('clean')
    differences.push(...differencesOf('clean', clean, schema))
  }
  if (slipped) {
    read.push('slipped')
    differences.push(...differencesOf('slipped', slipped, schema))
    // A text that is also read without guidance would prove none.
    const unguided = parse(slipped.text, withoutGuidance(schema))
    if (unguided.ok && isDeepStrictEqual(unguided.value, slipped.value))
      differences.push('slipped: needs no guidance')
  }
  if (refused) {
    read.push('refused')
    const result = parse(refused.text, schema)
    if (result.ok) differences.push('refused: was accepted')
    else if (result.issues[0]?.code !== refused.code)
      differences.push(`refused: by ${result.issues[0]?.code}, not by ${refused.code}`)
  }
  return { read, differences }
}

function differencesOf(kind: string, { text, value }: Expected, schema: StandardSchemaV1): readonly string[] {
  const result = parse(text, schema)
  if (!result.ok)
    return [`${kind}: ${result.issues.map(({ code, message }) => `${code} ${message}`).join('; ')}`]
  if (result.issues.length > 0) return [`${kind}: ${result.issues.map(({ code }) => code).join(', ')}`]
  return isDeepStrictEqual(result.value, value) ? [] : [`${kind}: another value`]
}

/** The same validator under a name that says nothing of its library. */
export function withoutGuidance(schema: StandardSchemaV1): StandardSchemaV1 {
  const { validate } = schema['~standard']
  return { '~standard': { version: 1, vendor: 'unknown', validate } }
}
