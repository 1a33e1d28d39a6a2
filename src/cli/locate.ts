/** Where a JSON Pointer leads in the text of a JSON file, so that issues can name a line. The text has been parsed before. */
import { type Pointer, tokens } from '../base/pointer.ts'

/** The offset of the value, or of the innermost value around it that is there. */
export function offsetOf(text: string, pointer: Pointer): number {
  let at = skipSpace(text, 0)
  for (const token of tokens(pointer)) {
    const inside = enter(text, at, token)
    if (inside === undefined) break
    at = inside
  }
  return at
}

/** Where the member or item begins; of several members with one name the last counts, as for `JSON.parse`. */
function enter(text: string, at: number, token: string): number | undefined {
  const isList = text[at] === '['
  if (!isList && text[at] !== '{') return undefined
  let found: number | undefined
  let place = skipSpace(text, at + 1)
  for (let index = 0; place < text.length && text[place] !== '}' && text[place] !== ']'; index++) {
    let name = String(index)
    if (!isList) {
      const end = endOfString(text, place)
      name = JSON.parse(text.slice(place, end))
      place = skipSpace(text, skipSpace(text, end) + 1)
    }
    if (name === token) found = place
    place = skipSpace(text, endOfValue(text, place))
    if (text[place] === ',') place = skipSpace(text, place + 1)
  }
  return found
}

function endOfValue(text: string, start: number): number {
  let at = start
  let depth = 0
  do {
    const char = text[at]
    if (char === '"') at = endOfString(text, at)
    else if (char === '{' || char === '[') {
      depth++
      at++
    } else if (char === '}' || char === ']') {
      depth--
      at++
    } else at = depth > 0 ? at + 1 : endOfWord(text, at)
  } while (depth > 0 && at < text.length)
  return at
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function endOfWord(text: string, start: number): number {
  const word = /[^\s,\]}]+/y
  word.lastIndex = start
  return word.test(text) ? word.lastIndex : start + 1
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (/\s|\ufeff/.test(text[at] ?? '')) at++
  return at
}
