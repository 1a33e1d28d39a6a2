/** Generates a text that matches a regular expression, by recursive descent through the expression. Covers the constructs that schemas commonly use. */
import type { Random } from '../noise/random.ts'

const longest = 4
const digits = '0123456789'
const letters = 'abcdefghijklmnopqrstuvwxyz'
const classes: Readonly<Record<string, string>> = {
  d: digits,
  w: `${letters}${letters.toUpperCase()}${digits}_`,
  s: ' ',
  D: letters,
  W: '-',
  S: letters,
}

/** Generates one random match while it reads the expression from left to right. */
class Walk {
  readonly #source: string
  readonly #random: Random
  #at = 0

  constructor(source: string, random: Random) {
    this.#source = source
    this.#random = random
  }

  get done(): boolean {
    return this.#at >= this.#source.length
  }

  alternatives(): string {
    const branches = [this.#sequence()]
    while (this.#source[this.#at] === '|') {
      this.#at++
      branches.push(this.#sequence())
    }
    return this.#random.pick(branches)
  }

  #sequence(): string {
    let text = ''
    while (!this.done && !'|)'.includes(this.#source[this.#at] ?? '')) text += this.#repeated()
    return text
  }

  /** Reads the atom again for every repetition, so that each may differ. */
  #repeated(): string {
    const start = this.#at
    let text = this.#atom()
    const { min, max } = this.#quantifier()
    const after = this.#at
    const count = this.#random.int(min, Math.max(min, Math.min(max, min + longest)))
    if (count === 0) text = ''
    for (let n = 1; n < count; n++) {
      this.#at = start
      text += this.#atom()
    }
    this.#at = after
    return text
  }

  #quantifier(): { min: number; max: number } {
    const rest = this.#source.slice(this.#at)
    const [whole = '', sign, low, comma, high] = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(rest) ?? []
    this.#at += whole.length
    if (whole === '') return { min: 1, max: 1 }
    if (sign !== undefined) return { min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : longest }
    const min = Number(low)
    return { min, max: comma === '' ? min : high === '' ? min + longest : Number(high) }
  }

  #atom(): string {
    const char = this.#source[this.#at++] ?? ''
    if (char === '^' || char === '$') return ''
    if (char === '.') return this.#random.pick([...letters])
    if (char === '[') return this.#set()
    if (char === '(') return this.#group()
    if (char === '\\') return this.#escape()
    if ('*+?{'.includes(char)) throw new Error('a quantifier without an atom')
    return char
  }

  #group(): string {
    if (this.#source[this.#at] === '?') {
      const [whole = ''] = /^\?(?::|<[A-Za-z]\w*>)/.exec(this.#source.slice(this.#at)) ?? []
      if (whole === '') throw new Error('lookaround is not supported')
      this.#at += whole.length
    }
    const text = this.alternatives()
    if (this.#source[this.#at++] !== ')') throw new Error('an open group')
    return text
  }

  #escape(): string {
    const char = this.#source[this.#at++] ?? ''
    if (char === 'b' || char === 'B') return ''
    if (char === 'p' || char === 'P') {
      const [whole = ''] = /^\{[^}]*\}/.exec(this.#source.slice(this.#at)) ?? []
      this.#at += whole.length
      return this.#random.pick([...(whole.startsWith('{N') ? digits : letters)])
    }
    const chars = classes[char]
    if (chars !== undefined) return this.#random.pick([...chars])
    if (/[1-9uxkc]/.test(char)) throw new Error('this escape is not supported')
    return { n: '\n', t: '\t', r: '\r' }[char] ?? char
  }

  #set(): string {
    const negated = this.#source[this.#at] === '^'
    if (negated) this.#at++
    let chars = ''
    for (let first = true; first || this.#source[this.#at] !== ']'; first = false) {
      if (this.done) throw new Error('an open class')
      const char = this.#source[this.#at++] ?? ''
      const one =
        char === '\\' ? (classes[this.#source[this.#at] ?? ''] ?? this.#source[this.#at] ?? '') : char
      if (char === '\\') this.#at++
      const isRange = this.#source[this.#at] === '-' && this.#source[this.#at + 1] !== ']' && one.length === 1
      if (!isRange) chars += one
      else {
        const last = this.#source[this.#at + 1] ?? one
        this.#at += 2
        const to = Math.min(last.charCodeAt(0), one.charCodeAt(0) + 100)
        for (let code = one.charCodeAt(0); code <= to; code++) chars += String.fromCharCode(code)
      }
    }
    this.#at++
    const allowed = negated
      ? [...`${letters}${digits}-_`].filter((char) => !chars.includes(char))
      : [...chars]
    return this.#random.pick(allowed)
  }
}

/** Returns `undefined` for an expression with other constructs. */
export function textFor(pattern: string, random: Random): string | undefined {
  try {
    const walk = new Walk(pattern, random)
    const text = walk.alternatives()
    return walk.done && new RegExp(pattern, 'u').test(text) ? text : undefined
  } catch {
    return undefined
  }
}
