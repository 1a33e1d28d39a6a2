/** The words that the rehearsal model answers with: those of its prompt, in whatever language they are. */
import type { Random } from '../noise/random.ts'

/** Words of the frame around a task, which say nothing about it. */
const frame: ReadonlySet<string> = new Set([
  'objective',
  'inputs',
  'clarifications',
  'null',
  'true',
  'false',
  'the',
  'and',
])

export function wordsIn(prompt: string): readonly string[] {
  const found = prompt.match(/[\p{L}\p{M}][\p{L}\p{M}\p{N}'’-]*/gu) ?? []
  const words = [...new Set(found.filter((word) => word.length > 1 && !frame.has(word.toLowerCase())))]
  return words.length > 0 ? words.slice(0, 200) : ['tea', 'time']
}

/** Some of the words in a row, as long as is allowed. */
export function phrase(
  random: Random,
  words: readonly string[],
  length: { readonly min: number; readonly max: number },
): string {
  const count = random.int(2, 6)
  const start = random.int(0, Math.max(words.length - count, 0))
  let text = words.slice(start, start + count).join(' ')
  while ([...text].length < length.min) text += `${text === '' ? '' : ' '}${random.pick(words)}`
  return [...text].slice(0, length.max).join('').trimEnd().padEnd(Math.min(length.min, length.max), '.')
}
