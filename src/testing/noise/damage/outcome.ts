/** Builds the outcomes of damage, and the checks that most kinds of damage start with. */
import type { Json } from '../../../base/json.ts'
import type { Random } from '../random.ts'
import { isDistinctive, rootForm, type Site, sites } from '../shape.ts'
import { findLayout, joinTokens, type Token, write } from '../tokens.ts'
import type { Outcome, Sample } from '../types.ts'

/** The syntax changed; the value did not. */
export function edited(sample: Sample, tokens: readonly Token[], open?: true): Outcome {
  const ends = open ?? sample.open
  return { text: joinTokens(tokens), tokens, expected: sample.value, ...(ends ? { open: ends } : {}) }
}

/** The document was wrapped, or is no longer a bare document; the value did not change. */
export function embedded(sample: Sample, text: string): Outcome {
  return { text, expected: sample.value, ...(sample.open ? { open: sample.open } : {}) }
}

/** Adds text before and after the document; no text may follow a document that does not end with its closing bracket. */
export function around(sample: Sample, before: string, after: string): Outcome | undefined {
  if (sample.open && after.trim() !== '') return undefined
  return embedded(sample, `${before}${sample.text}${after}`)
}

/** Information was lost: refuse, or answer with one of these values. */
export function lost(text: string, allowed: readonly Json[] = []): Outcome {
  return { text, lost: true, allowed }
}

/** Writes the value again in the layout of the sample. */
export function rewritten(sample: Sample, value: Json): Token[] {
  return write(value, sample.tokens ? findLayout(sample.tokens) : 'spaced')
}

/** Returns the positions of tokens that no damage has changed yet and that pass the test. */
export function findIndexes(
  tokens: readonly Token[],
  likes: (token: Token, index: number) => boolean,
): number[] {
  return tokens.flatMap((token, index) => (!token.touched && likes(token, index) ? [index] : []))
}

export function pickOrNot<T>(random: Random, list: readonly T[]): T | undefined {
  return list.length === 0 ? undefined : random.pick(list)
}

/** Picks one to `most` items of a list; none only if the list is empty. */
export function pickSome<T>(random: Random, list: readonly T[], most = 3): T[] {
  return random.some(list, random.int(1, most))
}

export function listSites(sample: Sample): Site[] {
  return sites(sample.schema, sample.value)
}

/** Returns whether the document is an object or a list of objects, which cannot be confused with prose. */
export function isDocument(sample: Sample): boolean {
  const form = rootForm(sample.schema, sample.value)
  return (form === 'object' && isDistinctive(sample.schema)) || form === 'list-of-objects'
}

/** Returns whether any text satisfies the schema, so that text around the answer becomes part of it. */
export function isText(sample: Sample): boolean {
  return rootForm(sample.schema, sample.value) === 'text'
}

/** Writes the decoy as a model would. */
export function decoyText(random: Random, sample: Sample): string {
  return joinTokens(write(sample.decoy, random.pick(['compact', 'spaced', 'pretty'])))
}

export function isStrict(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
