/** The one file that knows re2js: a pattern of ECMAScript as a function that takes linear time. */
import { RE2JS } from 're2js'

/** Throws for what cannot be matched in linear time. */
export function compileLinear(pattern: string): (text: string) => boolean {
  const engine = RE2JS.compile(RE2JS.translateRegExp(toRe2(pattern)))
  return (text) => engine.test(text)
}

const space =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const notSpace =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}' +
  '\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}'

/** Says in RE2's dialect what ECMAScript means, where the two read the same text differently. */
function toRe2(pattern: string): string {
  let out = ''
  let inClass = false
  for (let i = 0; i < pattern.length; i++) {
    const unit = pattern[i] as string
    if (unit === '\\') {
      const next = pattern[++i] as string
      if (next === 's' || next === 'S') out += inClass ? spaces(next) : `[${spaces(next)}]`
      else if (next === 'b' && inClass) out += '\\x08'
      else if (next === 'k') throw new SyntaxError('it has a backreference')
      else if (next === '0') out += '\\x00'
      else out += unit + next
    } else if (unit === '.' && !inClass) {
      out += '[^\\n\\r\\x{2028}\\x{2029}]'
    } else if (unit === '[') {
      out += inClass ? '\\[' : '['
      inClass = true
    } else {
      if (unit === ']') inClass = false
      out += unit
    }
  }
  return out
}

function spaces(letter: 's' | 'S'): string {
  return letter === 's' ? space : notSpace
}
