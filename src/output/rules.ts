/**
 * Every rule by which the reader may change something: one row per rule, with the stage it belongs to, the tolerance
 * it needs, what it costs when candidates are compared, and a sentence for people. `explain` and the docs print this table.
 */
import type { Stage } from './types.ts'

export interface Rule {
  readonly stage: Stage
  /** 0: deterministic repair, allowed from `minimal` on. 1: JSON5. 2: guided repair. */
  readonly level: 0 | 1 | 2
  readonly cost: number
  readonly sentence: string
}

const rule = (stage: Stage, level: 0 | 1 | 2, cost: number, sentence: string): Rule => ({
  stage,
  level,
  cost,
  sentence,
})

export const rules = {
  // Finding the value.
  surroundings: rule('extract', 0, 0, 'text around the value was left out'),
  'text-is-value': rule('extract', 0, 2, 'the text itself was taken as the string'),
  collect: rule('extract', 0, 3, 'separate values were collected into a list'),
  unescape: rule('extract', 0, 2, 'JSON inside a string was unfolded'),
  fence: rule('extract', 0, 1, 'a code fence inside the value was left out'),
  // Deterministic repair.
  comment: rule('syntactic', 0, 1, 'a comment was removed'),
  'trailing-comma': rule('syntactic', 0, 1, 'a superfluous comma was removed'),
  'missing-closer': rule('syntactic', 0, 2, 'a missing closing bracket was added'),
  truncated: rule('syntactic', 0, 2, 'the text ended early and was closed'),
  'extra-closer': rule('syntactic', 0, 2, 'a superfluous closing bracket was removed'),
  'wrong-closer': rule('syntactic', 0, 2, 'a closing bracket of the wrong kind was replaced'),
  'single-quotes': rule('syntactic', 0, 1, 'other quotes were replaced by double quotes'),
  'bare-key': rule('syntactic', 0, 1, 'an unquoted key was quoted'),
  literal: rule('syntactic', 0, 1, 'a literal of another language was translated'),
  'odd-space': rule('syntactic', 0, 1, 'an invisible or foreign space was replaced'),
  'raw-control': rule('syntactic', 0, 1, 'a raw line break or control character in a string was escaped'),
  'duplicate-key': rule('syntactic', 0, 2, 'a repeated key: the last one counts'),
  'big-number': rule('syntactic', 0, 1, 'a number too large to hold exactly was kept as text'),
  // JSON5.
  number: rule('tolerant', 1, 1, 'a number in another notation was rewritten'),
  escape: rule('tolerant', 1, 1, 'an escape that JSON does not know was resolved'),
  'full-width': rule('tolerant', 1, 1, 'full-width punctuation was replaced'),
  // Guided repair.
  'not-a-number': rule('syntactic', 2, 1, 'a value that JSON cannot hold became null'),
  'missing-comma': rule('syntactic', 2, 2, 'a missing comma was added'),
  'missing-colon': rule('syntactic', 2, 2, 'a missing colon was added'),
  'missing-quote': rule('syntactic', 2, 2, 'a missing quote was added'),
  'missing-opener': rule('syntactic', 2, 3, 'a missing opening bracket was added'),
  'missing-value': rule('syntactic', 2, 4, 'a key without a value was dropped'),
  'cut-string': rule('syntactic', 2, 4, 'a string that was cut off was dropped'),
  'inner-quote': rule('syntactic', 2, 2, 'a quote inside a string was escaped'),
  'doubled-quotes': rule('syntactic', 2, 2, 'doubled or tripled quotes were made single'),
  'escaped-quotes': rule('syntactic', 2, 2, 'escaped quotes around a string were unescaped'),
  'bare-value': rule('syntactic', 2, 2, 'an unquoted text was quoted'),
  concatenation: rule('syntactic', 2, 2, 'strings joined by + were joined'),
  ellipsis: rule('syntactic', 2, 2, 'an ellipsis was left out'),
  'stray-text': rule('syntactic', 2, 4, 'text that belongs to no member was left out'),
  'stray-value': rule('syntactic', 2, 20, 'a value without a key was left out'),
  rewrite: rule('extract', 2, 4, 'quote marks of a mail or HTML entities were resolved'),
  tuple: rule('syntactic', 2, 1, 'round brackets or a set were read as a list'),
  call: rule('syntactic', 2, 2, 'a function call was read as its argument'),
  'key-lines': rule('syntactic', 2, 6, 'lines of "key: value" or bullets were read as an object or list'),
  // Toward the schema.
  'str->int': rule('semantic', 0, 1, 'a string was read as an integer'),
  'str->float': rule('semantic', 0, 1, 'a string was read as a number'),
  'str->bool': rule('semantic', 0, 1, 'a string was read as a boolean'),
  'str->null': rule('semantic', 0, 1, 'a string was read as null'),
  'str->array': rule('semantic', 0, 2, 'a string holding a list was unfolded'),
  'str->object': rule('semantic', 0, 2, 'a string holding an object was unfolded'),
  'num->str': rule('semantic', 0, 1, 'a number was kept as its text'),
  'num->bool': rule('semantic', 0, 1, '0 or 1 was read as a boolean'),
  'word->bool': rule('semantic', 0, 1, 'yes/no or on/off was read as a boolean'),
  'json->str': rule('semantic', 0, 6, 'an object, list or literal was kept as its text'),
  wrap: rule('semantic', 0, 3, 'a single value was put into a list'),
  unwrap: rule('semantic', 0, 2, 'a list of one was replaced by its item'),
  enum: rule('semantic', 0, 1, 'a value was matched to the one listed value it can mean'),
  key: rule('semantic', 0, 1, 'a key was matched to the one declared key it can mean'),
  'drop-key': rule('semantic', 0, 2, 'an undeclared key was dropped'),
  'null-absent': rule('semantic', 0, 1, 'null for an optional property was read as absent'),
  lift: rule('semantic', 0, 4, 'a value was lifted out of a wrapper that the schema does not know'),
  enclose: rule('semantic', 0, 5, 'the one wrapper that the schema wants was added'),
  'drop-item': rule('semantic', 0, 5, 'a list item that could not be made valid was dropped'),
  default: rule('semantic', 0, 1, 'a default of the schema was filled in'),
} as const satisfies Record<string, Rule>

export type RuleName = keyof typeof rules

/** What a rule did, in words; the caller's own stages have no row. */
export function ruleSentence(name: string): string | undefined {
  return Object.hasOwn(rules, name) ? rules[name as RuleName].sentence : undefined
}
