/**
 * Finds where the values of a model's text are, by JSON Pointer: a tolerant scan of JSON as models write it (single quotes,
 * bare keys, comments, trailing commas). Only for showing: what it cannot follow has no location.
 */

export interface Located {
  readonly pointer: string
  readonly start: number
  readonly end: number
}

const mostChars = 200_000

/** The values of the first object or list at or after `from`. Members begin at their name. */
export function locateValues(text: string, from = 0): readonly Located[] {
  if (text.length > mostChars) return []
  const begin = text.slice(from).search(/[{[]/)
  if (begin < 0) return []
  const found: Located[] = []
  let at = from + begin

  const skip = () => {
    const blank = /(?:\s|,|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y
    blank.lastIndex = at
    at += blank.exec(text)?.[0].length ?? 0
  }
  const readQuoted = (quote: string): string => {
    const start = ++at
    while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1
    return text.slice(start, at++)
  }
  const readBare = (stop: RegExp): string => {
    const start = at
    while (at < text.length && !stop.test(text[at] ?? '')) at++
    return text.slice(start, at).trim()
  }
  const readName = (): string =>
    `"'\``.includes(text[at] ?? ' ') ? readQuoted(text[at] ?? '') : readBare(/[:,{}[\]]/)
  const readValue = (pointer: string, depth: number): void => {
    const sign = text[at] ?? ''
    if (depth < 100 && sign === '{') readMembers(pointer, depth)
    else if (depth < 100 && sign === '[') readItems(pointer, depth)
    else if (`"'\``.includes(sign)) readQuoted(sign)
    else readBare(/[,\]}\n]/)
  }
  const readMembers = (pointer: string, depth: number) => {
    at++
    for (skip(); at < text.length && text[at] !== '}'; skip()) {
      const start = at
      const name = readName()
      skip()
      if (text[at] !== ':') return
      at++
      skip()
      const inner = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      readValue(inner, depth + 1)
      found.push({ pointer: inner, start, end: Math.min(at, text.length) })
    }
    at++
  }
  const readItems = (pointer: string, depth: number) => {
    at++
    let index = 0
    for (skip(); at < text.length && text[at] !== ']'; skip(), index++) {
      const start = at
      readValue(`${pointer}/${index}`, depth + 1)
      if (at === start) return
      found.push({ pointer: `${pointer}/${index}`, start, end: Math.min(at, text.length) })
    }
    at++
  }
  readValue('', 0)
  return found
}

/** The innermost value that a range touches. */
export function findAt(located: readonly Located[], start: number, end: number): string | undefined {
  let best: Located | undefined
  for (const each of located)
    if (each.start <= start && end <= each.end && (!best || each.end - each.start < best.end - best.start))
      best = each
  return best?.pointer
}
