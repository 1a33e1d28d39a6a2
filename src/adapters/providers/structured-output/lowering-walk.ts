/** What one lowering carries along: the dialect, what was noted, and the references that are open. */
import type { Pointer } from '../../../base/pointer.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { Dialect } from './dialects.ts'

/** `changed`: says the same in other words; `weakened`: not held to there; `refused`: cannot be said, so nothing is sent. */
export interface LoweringNote {
  readonly kind: 'changed' | 'weakened' | 'refused'
  readonly pointer: Pointer
  readonly keyword: string
  readonly message: string
}

export type Keywords = Record<string, unknown>

export interface Walk {
  readonly dialect: Dialect
  readonly root: JsonSchema
  readonly notes: LoweringNote[]
  /** Keywords and places that have a note. */
  readonly noted: Set<string>
  /** Parts so far, written out. */
  readonly parts: { count: number }
  /** Lowered targets of references, by their new name. */
  readonly defs: Map<string, unknown>
  /** Names of the targets, by reference. */
  readonly names: Map<string, string>
  /** References on the way from the root to here. */
  readonly open: readonly string[]
  readonly depth: number
  /** Lowers a part; given along, so that each kind of part has its own file. */
  readonly lower: (given: unknown, pointer: Pointer, walk: Walk) => Keywords
}

/** A place in the schema, and the walk that came there. */
export interface Here {
  readonly pointer: Pointer
  readonly walk: Walk
}

export function startWalk(root: JsonSchema, dialect: Dialect, lower: Walk['lower']): Walk {
  const kept = { notes: [], noted: new Set<string>(), defs: new Map(), names: new Map() }
  return { dialect, root, ...kept, parts: { count: 0 }, open: [], depth: 0, lower }
}

/** Providers take a few thousand parts at most; references that are written out can make millions of a short schema. */
export const mostParts = 5_000

type NoteArguments = [
  walk: Walk,
  kind: LoweringNote['kind'],
  pointer: Pointer,
  keyword: string,
  message: string,
]

/** The first note about a keyword at a place counts. */
export function note(...[walk, kind, pointer, keyword, message]: NoteArguments): void {
  const name = `${keyword} ${pointer}`
  if (!walk.noted.has(name)) walk.notes.push({ kind, pointer, keyword, message })
  walk.noted.add(name)
}
