/**
 * Parses an expression, such as `steps.rate.output.score >= 0.8 && has(input.topic)`, into a tree with the range of every
 * part (recursive descent). The grammar is that of the Common Expression Language (CEL); what conditions have no
 * counterpart for is rejected here or in `compile-expression.ts`.
 */
import type { TextRange } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'

type BinaryOperator = '&&' | '||' | '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in'

export type ExpressionNode = { readonly range: TextRange } & (
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'member'; readonly of: ExpressionNode; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly ExpressionNode[] }
  | { readonly kind: 'not'; readonly operand: ExpressionNode }
  | {
      readonly kind: 'binary'
      readonly operator: BinaryOperator
      readonly left: ExpressionNode
      readonly right: ExpressionNode
    }
  | {
      readonly kind: 'call'
      readonly name: string
      /** Of `target.name(args)`. */
      readonly target?: ExpressionNode
      readonly args: readonly ExpressionNode[]
    }
)

interface ExpressionError {
  readonly message: string
  readonly hint?: string
  /** Of the text of the expression. */
  readonly range: TextRange
}

/** Thrown while an expression is read, and converted to a result by `compileExpression`. */
export class ExpressionFault extends Error {
  readonly error: ExpressionError

  constructor(error: ExpressionError) {
    super(error.message)
    this.error = error
  }
}

/** Deeper expressions are rejected. */
const deepest = 32

interface Reading {
  readonly text: string
  at: number
  depth: number
}

export function parseExpression(text: string): ExpressionNode {
  const reading: Reading = { text, at: 0, depth: 0 }
  skipSpace(reading)
  const node = readOr(reading)
  if (reading.at < text.length) throw unexpected(reading, '&&, || or the end of the expression')
  return node
}

function readOr(reading: Reading): ExpressionNode {
  if (++reading.depth > deepest)
    throw fault(reading, 'the expression is nested too deeply', `Nest at most ${deepest} deep`)
  const node = readChain(reading, '||', () => readChain(reading, '&&', () => readRelation(reading)))
  reading.depth--
  if (peek(reading, /\?/y))
    throw fault(reading, '? : is not supported', 'Write (a && b) || (!a && c), or use a conditional step')
  return node
}

function readChain(reading: Reading, operator: '&&' | '||', read: () => ExpressionNode): ExpressionNode {
  let left = read()
  while (take(reading, operator === '&&' ? /&&/y : /\|\|/y) !== undefined)
    left = toBinary(operator, left, read())
  if (peek(reading, operator === '&&' ? /&|and\b/y : /\||or\b/y))
    throw fault(reading, `an operator is not known`, `Write ${operator}`)
  return left
}

const relation = /==|!=|<=|>=|<|>|in(?![\w])/y

function readRelation(reading: Reading): ExpressionNode {
  const left = readUnary(reading)
  refuseArithmetic(reading)
  const operator = take(reading, relation)
  if (operator === undefined) return left
  if (peek(reading, /=/y)) throw fault(reading, `${operator}= is not an operator`, `Write ${operator}`)
  const right = readUnary(reading)
  refuseArithmetic(reading)
  if (peek(reading, relation)) throw fault(reading, 'comparisons cannot be chained', 'Write a < b && b < c')
  return toBinary(operator as BinaryOperator, left, right)
}

function toBinary(operator: BinaryOperator, left: ExpressionNode, right: ExpressionNode): ExpressionNode {
  return { kind: 'binary', operator, left, right, range: [left.range[0], right.range[1]] }
}

function refuseArithmetic(reading: Reading): void {
  if (peek(reading, /-/y))
    throw fault(
      reading,
      'arithmetic is not supported: conditions compare values',
      'Compute the value in a step before; write names with a hyphen in brackets: steps["my-step"]',
    )
  if (peek(reading, /[+*/%]/y))
    throw fault(
      reading,
      'arithmetic is not supported: conditions compare values',
      'Compute the value in a step before',
    )
  if (peek(reading, /=(?!=)/y)) throw fault(reading, '= is not an operator', 'Write ==')
}

function readUnary(reading: Reading): ExpressionNode {
  const start = reading.at
  if (take(reading, /!(?!=)/y) === undefined) return readPath(reading)
  if (++reading.depth > deepest) throw fault(reading, 'the expression is nested too deeply')
  const operand = readUnary(reading)
  reading.depth--
  return { kind: 'not', operand, range: [start, operand.range[1]] }
}

/** A primary with the members, indexes and calls behind it. */
function readPath(reading: Reading): ExpressionNode {
  let node = readPrimary(reading)
  for (;;) {
    const [start] = node.range
    if (take(reading, /\./y) !== undefined) {
      const name = take(reading, /[A-Za-z_]\w*|\d+/y)
      if (name === undefined) throw unexpected(reading, 'a name after the dot', bracketHint)
      node = { kind: 'member', of: node, name, range: [start, end(reading)] }
      if (take(reading, /\(/y) !== undefined) {
        const { of: target } = node
        const args = readList(reading, /\)/y, ')')
        node = { kind: 'call', name, target, args, range: [start, end(reading)] }
      }
    } else if (take(reading, /\[/y) !== undefined) {
      const index = readPrimary(reading)
      const name = index.kind === 'literal' ? index.value : undefined
      if (typeof name !== 'string' && !(typeof name === 'number' && Number.isInteger(name) && name >= 0))
        throw new ExpressionFault({
          message: 'an index is a text or a number that is written out',
          hint: 'Write steps["my-step"] or list[0]; check every element with list.exists(x, …)',
          range: index.range,
        })
      if (typeof name === 'string' && !/^[^.*]+$/.test(name))
        throw new ExpressionFault({
          message: `the member ${JSON.stringify(name)} cannot be read: conditions join members with dots`,
          hint: 'Copy it under another name with uses: select_fields',
          range: index.range,
        })
      if (take(reading, /\]/y) === undefined) throw unexpected(reading, ']')
      node = { kind: 'member', of: node, name: String(name), range: [start, end(reading)] }
    } else return node
  }
}

const bracketHint = 'Write other names in brackets: steps["my-step"]'
const words: { readonly [name: string]: Json } = { true: true, false: false, null: null }

function readPrimary(reading: Reading): ExpressionNode {
  const start = reading.at
  const literal = readLiteral(reading)
  if (literal) return { kind: 'literal', value: literal.value, range: [start, end(reading)] }
  if (take(reading, /\(/y) !== undefined) {
    const inner = readOr(reading)
    if (take(reading, /\)/y) === undefined) throw unexpected(reading, ')')
    return { ...inner, range: [start, end(reading)] }
  }
  if (take(reading, /\[/y) !== undefined) {
    const items = readList(reading, /\]/y, ']')
    return { kind: 'list', items, range: [start, end(reading)] }
  }
  const name = take(reading, /[A-Za-z_]\w*/y)
  if (name === undefined)
    throw unexpected(
      reading,
      'a path, a literal or (',
      peek(reading, /\{\{/y) ? 'Write paths without {{ }}: input.topic == "tea"' : undefined,
    )
  if (Object.hasOwn(words, name))
    return { kind: 'literal', value: words[name] as Json, range: [start, end(reading)] }
  if (take(reading, /\(/y) === undefined) return { kind: 'name', name, range: [start, end(reading)] }
  const args = readList(reading, /\)/y, ')')
  return { kind: 'call', name, args, range: [start, end(reading)] }
}

function readList(reading: Reading, close: RegExp, sign: string): ExpressionNode[] {
  const items: ExpressionNode[] = []
  if (take(reading, close) !== undefined) return items
  for (;;) {
    items.push(readOr(reading))
    if (take(reading, close) !== undefined) return items
    if (take(reading, /,/y) === undefined) throw unexpected(reading, `, or ${sign}`)
  }
}

const escapes: { readonly [sign: string]: string } = {
  n: '\n',
  r: '\r',
  t: '\t',
  '\\': '\\',
  "'": "'",
  '"': '"',
}

function readLiteral(reading: Reading): { readonly value: Json } | undefined {
  const number = take(reading, /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y)
  if (number !== undefined) {
    const value = Number(number)
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
      throw before(reading, number, 'the number cannot be held exactly')
    return { value }
  }
  if (peek(reading, /-?\d/y)) throw fault(reading, 'a number is written in decimal digits, without a suffix')
  const text = take(reading, /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y)
  if (text === undefined) {
    if (peek(reading, /["']/y)) throw fault(reading, 'the text has no closing quote')
    if (peek(reading, /[rRbB]{1,2}["']/y)) throw fault(reading, 'raw texts and bytes are not supported')
    return undefined
  }
  const value = text.slice(1, -1).replace(/\\(u[0-9a-fA-F]{4}|.)/g, (whole, sign: string) => {
    if (sign.length > 1) return String.fromCharCode(Number.parseInt(sign.slice(1), 16))
    const made = Object.hasOwn(escapes, sign) ? escapes[sign] : undefined
    if (made === undefined) throw before(reading, text, `${whole} is not an escape of texts`)
    return made
  })
  return { value }
}

/** Takes a token and the space behind it. */
function take(reading: Reading, pattern: RegExp): string | undefined {
  pattern.lastIndex = reading.at
  const found = pattern.exec(reading.text)?.[0]
  if (found === undefined) return undefined
  reading.at += found.length
  skipSpace(reading)
  return found
}

function peek({ text, at }: Reading, pattern: RegExp): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}

function skipSpace(reading: Reading): void {
  while (/\s/.test(reading.text[reading.at] ?? '')) reading.at++
}

/** The end of the token before the current position, without the space behind it. */
function end({ text, at }: Reading): number {
  return text.slice(0, at).trimEnd().length
}

function fault({ text, at }: Reading, message: string, hint?: string): ExpressionFault {
  return new ExpressionFault({
    message,
    range: [at, Math.min(at + 1, text.length)],
    ...(hint !== undefined && { hint }),
  })
}

function before(reading: Reading, token: string, message: string): ExpressionFault {
  const stop = end(reading)
  return new ExpressionFault({ message, range: [stop - token.length, stop] })
}

function unexpected(reading: Reading, wanted: string, hint?: string): ExpressionFault {
  const { text, at } = reading
  const found = at < text.length ? JSON.stringify(/\w+|./.exec(text.slice(at))?.[0]) : 'the end'
  return fault(reading, `expected ${wanted}, got ${found}`, hint)
}
