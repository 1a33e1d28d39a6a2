/** JSON as a list of tokens with their pointers, so that several kinds of damage can edit the syntax one after another. */
import { isObject, type Json } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'

type TokenKind = 'open' | 'close' | 'comma' | 'colon' | 'key' | 'string' | 'number' | 'literal' | 'space'

export interface Token {
  readonly kind: TokenKind
  readonly text: string
  /** The value the token belongs to; for commas and brackets the container, for keys the member. */
  readonly at: Pointer
  /** Value of the token: the key, or the scalar. */
  readonly value?: string | number | boolean | null
  /** A damage has already changed this token. */
  readonly touched?: true
}

export type Layout = 'compact' | 'spaced' | 'pretty'

export function write(value: Json, layout: Layout): Token[] {
  const out: Token[] = []
  const space = (text: string, at: Pointer): void => {
    if (text !== '') out.push({ kind: 'space', text, at })
  }
  const line = (depth: number): string => (layout === 'pretty' ? `\n${'  '.repeat(depth)}` : '')
  const walk = (node: Json, at: Pointer, depth: number): void => {
    if (Array.isArray(node) || isObject(node)) {
      const list = Array.isArray(node)
      const entries: [string | number, Json][] = list
        ? node.map((item, index) => [index, item as Json])
        : Object.entries(node as Record<string, Json>)
      out.push({ kind: 'open', text: list ? '[' : '{', at })
      entries.forEach(([key, item], index) => {
        if (index > 0) {
          out.push({ kind: 'comma', text: ',', at })
          if (layout === 'spaced') space(' ', at)
        }
        space(line(depth + 1), at)
        const here = child(at, key)
        if (!list) {
          out.push({ kind: 'key', text: JSON.stringify(key), at: here, value: String(key) })
          out.push({ kind: 'colon', text: ':', at: here })
          if (layout !== 'compact') space(' ', here)
        }
        walk(item, here, depth + 1)
      })
      if (entries.length > 0) space(line(depth), at)
      out.push({ kind: 'close', text: list ? ']' : '}', at })
      return
    }
    const scalar = node as string | number | boolean | null
    const kind = typeof scalar === 'string' ? 'string' : typeof scalar === 'number' ? 'number' : 'literal'
    out.push({ kind, text: JSON.stringify(scalar), at, value: scalar })
  }
  walk(value, '', 0)
  return out
}

export function joinTokens(tokens: readonly Token[]): string {
  return tokens.map((token) => token.text).join('')
}

/** Returns the layout in which the tokens were written. */
export function findLayout(tokens: readonly Token[]): Layout {
  if (tokens.some((token) => token.kind === 'space' && token.text.includes('\n'))) return 'pretty'
  return tokens.some((token) => token.kind === 'space') ? 'spaced' : 'compact'
}

/** Returns the tokens with the text of one of them replaced. */
export function retext(tokens: readonly Token[], index: number, text: string): Token[] {
  return tokens.map((token, i) => (i === index ? { ...token, text, touched: true } : token))
}

/** Returns the position of the next token that is not white space, from `index` in steps of `step`. */
export function nextSolid(tokens: readonly Token[], index: number, step: 1 | -1 = 1): number {
  let i = index + step
  while (tokens[i]?.kind === 'space') i += step
  return i
}

/** Returns the range of tokens of the value at a pointer, from its first to one past its last. */
export function findTokenRange(tokens: readonly Token[], at: Pointer): [number, number] | undefined {
  const start = tokens.findIndex((token) => token.at === at && isValueStart(token))
  if (start < 0) return undefined
  if (tokens[start]?.kind !== 'open') return [start, start + 1]
  const end = tokens.findIndex((token, i) => i > start && token.kind === 'close' && token.at === at)
  return end < 0 ? undefined : [start, end + 1]
}

export function isScalar(token: Token): boolean {
  return token.kind === 'string' || token.kind === 'number' || token.kind === 'literal'
}

function isValueStart(token: Token): boolean {
  return token.kind === 'open' || isScalar(token)
}
