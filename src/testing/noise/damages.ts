/** The table of all kinds of damage; the corpus draws from it, and scores are reported by its names. */
import { BARE } from './damage/bare.ts'
import { CLOSERS, COMMAS } from './damage/commas.ts'
import { CHARACTERS, COMMENTS } from './damage/comments.ts'
import { ECHOES } from './damage/echoes.ts'
import { BIG_INTEGERS, LOSSES } from './damage/losses.ts'
import { NUMBERS } from './damage/numbers.ts'
import { FENCES, PROSE, TAGS } from './damage/prose.ts'
import { QUOTES } from './damage/quotes.ts'
import { SCHEMA_KINDS } from './damage/schema.ts'
import { STRINGS, UNQUOTED_TEXT } from './damage/strings.ts'
import { ENCODINGS, SEVERAL, WRAPPERS } from './damage/wrappers.ts'
import type { Damage } from './types.ts'

export const DAMAGES: readonly Damage[] = [
  ...PROSE,
  ...FENCES,
  ...TAGS,
  ...ECHOES,
  ...SEVERAL,
  ...WRAPPERS,
  ...ENCODINGS,
  ...COMMAS,
  ...CLOSERS,
  ...QUOTES,
  ...STRINGS,
  ...UNQUOTED_TEXT,
  ...BARE,
  ...COMMENTS,
  ...NUMBERS,
  ...BIG_INTEGERS,
  ...SCHEMA_KINDS,
  ...CHARACTERS,
  ...LOSSES,
]
