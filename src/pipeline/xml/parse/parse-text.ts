/** Parses texts that contain `{{…}}`: descriptions, and elements that hold one expression or a plain value. */
import type { TextRange } from '../../../base/errors/issue.ts'
import type { Json } from '../../../base/json.ts'
import { detectJson } from '../../../output/index.ts'
import { find, getText, type Parsing } from './elements.ts'
import { expressionText, readExpression } from './expression.ts'
import { type Element, isElement } from './read-xml.ts'
import type { DescriptionText, ExpressionNode, NamedExpression } from './template.ts'

/** A match never contains another `{{`, so that scanning stays linear. */
const braces = /\{\{((?:(?!\{\{|\}\})[\s\S])*)\}\}/g

/** Every expression becomes an input of that name; the text keeps the name, never the value. */
export function parseDescription(element: Element, parsing: Parsing): DescriptionText {
  const expressions = new Map<string, NamedExpression>()
  const findRange = locateExpressions(element, parsing)
  let index = 0
  const text = getText(element).replace(braces, (whole, inner: string) => {
    const node = parseExpression(inner, findRange(index++), parsing)
    if (node === undefined) return whole
    const name = expressionText(node.expression)
    if (!expressions.has(name)) expressions.set(name, { name, node })
    return `{{${name}}}`
  })
  if (/\{\{/.test(text.replace(braces, '')))
    find(parsing, findRange(index), { message: '"{{" has no "}}"', hint: 'Close the expression' })
  return { text: dedent(text), expressions: [...expressions.values()], range: element.range }
}

/** Parses a single `{{…}}`, or a plain text, which is read as JSON where it is valid JSON. */
export function parseValueText(element: Element, parsing: Parsing): ExpressionNode | undefined {
  const text = getText(element).trim()
  const range = locateExpressions(element, parsing)(0)
  const [whole, inner] = /^\{\{((?:(?!\{\{|\}\})[\s\S])*)\}\}$/.exec(text) ?? []
  if (whole !== undefined) return parseExpression(inner ?? '', range, parsing)
  if (text.includes('{{')) {
    find(parsing, range, {
      message: `<${element.name}> holds one {{…}} or a plain value, not a mixture`,
      hint: 'Let a task put the text together, and pass its result',
    })
    return undefined
  }
  const value = detectJson(text).value as Json
  return { kind: 'expression', expression: { kind: 'literal', value }, range: element.range }
}

export function parseExpression(
  text: string,
  range: TextRange,
  parsing: Parsing,
): ExpressionNode | undefined {
  const read = readExpression(text)
  if (read.ok) return { kind: 'expression', expression: read.expression, range }
  find(parsing, range, {
    message: `"${text.trim().slice(0, 60)}" cannot be read: ${read.error.message}`,
    ...(read.error.hint !== undefined && { hint: read.error.hint }),
  })
  return undefined
}

/** Returns the range of the n-th `{{…}}` of an element; the element itself where that is unknown. */
function locateExpressions(element: Element, { text }: Parsing): (index: number) => TextRange {
  const ranges: TextRange[] = []
  for (const child of element.children) {
    if (isElement(child)) continue
    const [start, end] = child.range
    for (const found of text.slice(start, end).matchAll(/\{\{(?:(?!\{\{|\}\})[\s\S])*(?:\}\})?/g))
      ranges.push([start + found.index, start + found.index + found[0].length])
  }
  return (index) => ranges[index] ?? element.range
}

/** Removes the indentation of the file. */
function dedent(text: string): string {
  const lines = text
    .replace(/^[ \t]*\r?\n/, '')
    .trimEnd()
    .split(/\r?\n/)
  const full = lines.filter((line) => line.trim() !== '')
  const margin = full.reduce(
    (least, line) => Math.min(least, line.length - line.trimStart().length),
    Number.POSITIVE_INFINITY,
  )
  return lines
    .map((line) => line.slice(Number.isFinite(margin) ? margin : 0).trimEnd())
    .join('\n')
    .trim()
}
