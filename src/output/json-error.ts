/**
 * Locates the first strict-JSON syntax error in a text. The message of `JSON.parse` differs between engines and
 * versions; this one is the same everywhere. Called by the strict reading and by `jsonFault` for text that `JSON.parse`
 * rejects.
 */

/** Describes the first character that strict JSON does not allow at its position. */
export function describeFault(text: string): string {
  const at = findFault(text)
  if (at >= text.length) return `it ends too early, at offset ${text.length}`
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
  return `unexpected ${JSON.stringify(character)} at offset ${at}`
}

const SPACE = /[ \t\n\r]*/y
const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
/** One part of a string. Matched part by part: matching a long string at once needs stack in proportion to its length. */
const PART = /[^"\\\0-\x1f]+|\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

/** Offset of the first syntax error; the text length if the text ends too early or has no error. */
function findFault(text: string): number {
  const closers: string[] = []
  // What may come next, one letter each: a value, a key, the closing bracket, or the punctuation itself.
  let wanted = 'v'
  let at = match(SPACE, text, 0)
  while (at < text.length) {
    const character = text.charAt(at)
    let end = at + 1
    let following = ''
    if (wanted.includes('e') && character === closers.at(-1)) closers.pop()
    else if (/[:,]/.test(character) && wanted.includes(character)) {
      following = character === ',' && closers.at(-1) === '}' ? 'k' : 'v'
    } else if (character === '"' && /[vk]/.test(wanted)) {
      end = stringEnd(text, end)
      if (text.charAt(end) !== '"') return end
      end++
      if (wanted.includes('k')) following = ':'
    } else if (!wanted.includes('v')) return at
    else if (character === '{' || character === '[') {
      closers.push(character === '{' ? '}' : ']')
      following = character === '{' ? 'ke' : 've'
    } else {
      end = match(LITERAL, text, at)
      if (end === at) return at
    }
    wanted = following || (closers.length === 0 ? '' : ',e')
    at = match(SPACE, text, end)
  }
  return text.length
}

/** Offset of the closing quote, or of the first character that a string cannot contain. */
function stringEnd(text: string, start: number): number {
  let at = start
  for (let end = match(PART, text, at); end > at; end = match(PART, text, at)) at = end
  return at
}

/** End of the sticky match at `at`, or `at` itself without a match. */
function match(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at
  return expression.test(text) ? expression.lastIndex : at
}
