/**
 * Parses the expression between `{{` and `}}`: a name, a path below it, a literal, or a call of a template
 * with such arguments.
 */
import type { Json } from '../../../base/json.ts'

export type Expression =
  | { readonly kind: 'path'; readonly name: string; readonly path: readonly string[] }
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'call'; readonly template: string; readonly args: readonly Expression[] }

export interface ExpressionError {
  readonly message: string
  readonly hint?: string
  /** Offset in the given text. */
  readonly at: number
}

type ReadExpression =
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly error: ExpressionError }

export const namePattern = /^[A-Za-z_][A-Za-z0-9_-]*$/

/** Maximum nesting depth of calls in one expression. */
const deepest = 8

/**
 * @example
 * readExpression('summarize(file.path, "short", 3)')
 */
export function readExpression(text: string): ReadExpression {
  const reading: Reading = { text, at: 0 }
  try {
    const expression = readOne(reading, 0)
    skipSpace(reading)
    if (reading.at < text.length) throw fault(reading, 'only one expression is allowed here')
    return { ok: true, expression }
  } catch (error) {
    if (error instanceof Fault) return { ok: false, error: error.error }
    throw error
  }
}

/** The canonical text of an expression; also the name of the input that it becomes. */
export function expressionText(expression: Expression): string {
  switch (expression.kind) {
    case 'path':
      return [expression.name, ...expression.path].join('.')
    case 'literal':
      return JSON.stringify(expression.value)
    case 'call':
      return `${expression.template}(${expression.args.map(expressionText).join(', ')})`
  }
}

interface Reading {
  readonly text: string
  at: number
}

/** Internal to `readExpression`, which converts it to a result. */
class Fault extends Error {
  readonly error: ExpressionError

  constructor(error: ExpressionError) {
    super(error.message)
    this.error = error
  }
}

function fault({ at }: Reading, message: string, hint?: string): Fault {
  return new Fault({ message, at, ...(hint !== undefined && { hint }) })
}

function readOne(reading: Reading, depth: number): Expression {
  skipSpace(reading)
  if (depth > deepest) throw fault(reading, `calls are nested more than ${deepest} deep`)
  const literal = take(reading, /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y)
  if (literal !== undefined) return { kind: 'literal', value: toLiteral(reading, literal) }
  const name = take(reading, /[A-Za-z_][A-Za-z0-9_-]*/y)
  if (name === undefined)
    throw fault(
      reading,
      'a name, a text in quotes, a number or a call such as fn(a, b) is wanted here',
      'Names begin with a letter or _',
    )
  if (Object.hasOwn(words, name)) return { kind: 'literal', value: words[name] as Json }
  if (take(reading, /\s*\(/y) !== undefined)
    return { kind: 'call', template: name, args: readArgs(reading, depth) }
  const path: string[] = []
  while (take(reading, /\./y) !== undefined) {
    const part = take(reading, /[A-Za-z0-9_-]+/y)
    if (part === undefined) throw fault(reading, 'a name or a number is wanted after the dot')
    path.push(part)
  }
  return { kind: 'path', name, path }
}

const words: { readonly [name: string]: Json } = { true: true, false: false, null: null }

function readArgs(reading: Reading, depth: number): Expression[] {
  const args: Expression[] = []
  if (take(reading, /\s*\)/y) !== undefined) return args
  for (;;) {
    args.push(readOne(reading, depth + 1))
    if (take(reading, /\s*\)/y) !== undefined) return args
    if (take(reading, /\s*,/y) === undefined) throw fault(reading, '"," or ")" is wanted here')
  }
}

function toLiteral(reading: Reading, literal: string): Json {
  if (!literal.startsWith("'") && !literal.startsWith('"')) return Number(literal)
  try {
    const inner = literal.slice(1, -1)
    return JSON.parse(
      literal.startsWith('"') ? literal : `"${inner.replaceAll("\\'", "'").replaceAll('"', '\\"')}"`,
    )
  } catch {
    throw fault(
      reading,
      `${literal.slice(0, 40)} is not a text`,
      'Write it as in JSON: \\n, \\t, \\" and \\\\',
    )
  }
}

function skipSpace(reading: Reading): void {
  take(reading, /\s+/y)
}

function take(reading: Reading, pattern: RegExp): string | undefined {
  pattern.lastIndex = reading.at
  const found = pattern.exec(reading.text)?.[0]
  if (found !== undefined) reading.at += found.length
  return found
}
