/**
 * The rules with a sentence for people, printed by `explain`, the command line and the docs. Separate from `rules.ts`,
 * so that a browser bundle of `parse` does not contain sentences it never prints.
 */
import { type RuleEffect, type RuleName, rules } from '../rules.ts'

export interface Rule extends RuleEffect {
  readonly sentence: string
}

const sentences: Readonly<Record<RuleName, string>> = {
  surroundings: 'text around the value was left out',
  'text-is-value': 'the text itself was taken as the string',
  reasoning: 'reasoning before the text was left out',
  collect: 'separate values were collected into a list',
  unescape: 'JSON inside a string was unfolded',
  fence: 'a code fence inside the value was left out',
  comment: 'a comment was removed',
  'trailing-comma': 'a superfluous comma was removed',
  'missing-closer': 'a missing closing bracket was added',
  truncated: 'the text ended early and was closed',
  'extra-closer': 'a superfluous closing bracket was removed',
  'wrong-closer': 'a closing bracket of the wrong kind was replaced',
  'single-quotes': 'other quotes were replaced by double quotes',
  'bare-key': 'an unquoted key was quoted',
  literal: 'a literal of another language was translated',
  'odd-space': 'an invisible or foreign space was replaced',
  'raw-control': 'a raw line break or control character in a string was escaped',
  'duplicate-key': 'a repeated key: the last one counts',
  'big-number': 'a number too large to hold exactly was kept as text',
  number: 'a number in another notation was rewritten',
  escape: 'an escape that JSON does not know was resolved',
  'full-width': 'full-width punctuation was replaced',
  'not-a-number': 'a value that JSON cannot hold became null',
  'missing-comma': 'a missing comma was added',
  'missing-colon': 'a missing colon was added',
  'missing-quote': 'a missing quote was added',
  'missing-opener': 'a missing opening bracket was added',
  'missing-value': 'a key without a value was dropped',
  'cut-string': 'a string that was cut off was dropped',
  'inner-quote': 'a quote inside a string was escaped',
  'doubled-quotes': 'doubled or tripled quotes were made single',
  'escaped-quotes': 'escaped quotes around a string were unescaped',
  'bare-value': 'an unquoted text was quoted',
  concatenation: 'strings joined by + were joined',
  ellipsis: 'an ellipsis was left out',
  'stray-text': 'text that belongs to no member was left out',
  'stray-value': 'a value without a key was left out',
  rewrite: 'quote marks of a mail or HTML entities were resolved',
  tuple: 'round brackets or a set were read as a list',
  call: 'a function call was read as its argument',
  'named-call': 'a call was put into the form of name and arguments',
  'key-lines': 'lines of "key: value" or bullets were read as an object or list',
  'str->int': 'a string was read as an integer',
  'str->float': 'a string was read as a number',
  'str->bool': 'a string was read as a boolean',
  'str->null': 'a string was read as null',
  'str->array': 'a string holding a list was unfolded',
  'str->object': 'a string holding an object was unfolded',
  'num->str': 'a number was kept as its text',
  'num->bool': '0 or 1 was read as a boolean',
  'word->bool': 'yes/no or on/off was read as a boolean',
  'json->str': 'an object, list or literal was kept as its text',
  wrap: 'a single value was put into a list',
  unwrap: 'a list of one was replaced by its item',
  enum: 'a value was matched to the one listed value it can mean',
  key: 'a key was matched to the one declared key it can mean',
  'drop-key': 'an undeclared key was dropped',
  'null-absent': 'null for an optional property was read as absent',
  lift: 'a value was lifted out of a wrapper that the schema does not know',
  enclose: 'the one wrapper that the schema wants was added',
  'drop-item': 'a list item that could not be made valid was dropped',
  default: 'a default of the schema was filled in',
}

export const ruleTable = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ Object.entries(rules).map(([name, effect]) => [
    name,
    { ...effect, sentence: sentences[name as RuleName] },
  ]),
) as Readonly<Record<RuleName, Rule>> // one row for each rule

/** Describes what a rule did; custom stages have no row. */
export function ruleSentence(name: string): string | undefined {
  return Object.hasOwn(sentences, name) ? sentences[name as RuleName] : undefined
}
