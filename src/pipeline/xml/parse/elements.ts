/** Checks the attributes and children of elements, and reports unexpected ones. */
import { closest } from '../../../base/closest.ts'
import type { TextRange } from '../../../base/errors/issue.ts'
import type { Finding } from '../../text/source.ts'
import { type Element, isElement, type Text } from './read-xml.ts'

/** State of a parse. Parsing continues after a finding, so that all are reported at once. */
export interface Parsing {
  readonly findings: Finding[]
  /** The text of the file. */
  readonly text: string
}

interface Shape {
  readonly attributes: readonly string[]
  readonly children: readonly string[]
  /** Allows text content. Default false. */
  readonly text?: boolean
}

/** Limit on reported findings, to keep reports readable. */
const mostFindings = 50

export function find(parsing: Parsing, range: TextRange, said: Omit<Finding, 'range' | 'code'>): void {
  if (!isFull(parsing)) parsing.findings.push({ code: 'template/shape', range, ...said })
}

function isFull({ findings }: Parsing): boolean {
  return findings.length >= mostFindings
}

/** Reports attributes, elements and text that the element may not have. */
export function checkShape(element: Element, shape: Shape, parsing: Parsing): void {
  for (const [name, { range }] of element.attributes)
    if (!isFull(parsing) && !shape.attributes.includes(name))
      find(parsing, range, {
        message: `<${element.name}> has no attribute "${name.slice(0, 60)}"`,
        hint: nearest(name, shape.attributes, 'Attributes'),
      })
  for (const child of element.children) {
    if (isFull(parsing)) return
    if (!isElement(child)) {
      if (!shape.text && child.text.trim() !== '')
        find(parsing, trimmed(child), {
          message: `<${element.name}> has no text of its own`,
          hint: 'Put it into <description>',
        })
    } else if (!shape.children.includes(child.name))
      find(parsing, child.range, {
        message: `<${element.name}> has no element <${child.name.slice(0, 60)}>`,
        hint: nearest(child.name, shape.children, 'Elements'),
      })
  }
}

function nearest(name: string, known: readonly string[], what: string): string {
  const meant = closest(name, known)
  if (meant !== undefined) return `Did you mean "${meant}"?`
  return known.length === 0 ? 'Remove it' : `${what} here: ${known.join(', ')}`
}

export function elementsIn(element: Element): readonly Element[] {
  return element.children.filter(isElement)
}

/** The only child of that name; reports a second one. */
export function oneChild(element: Element, name: string, parsing: Parsing): Element | undefined {
  const [first, second] = elementsIn(element).filter((child) => child.name === name)
  if (second)
    find(parsing, second.range, { message: `<${element.name}> has one <${name}>`, hint: 'Keep one' })
  return first
}

export function getAttribute(element: Element, name: string): string | undefined {
  return element.attributes.get(name)?.value
}

/** The text content of an element, without its child elements. */
export function getText(element: Element): string {
  return element.children.map((child) => (isElement(child) ? '' : child.text)).join('')
}

/** A value that may be written as an attribute or as a child element. */
export function readWord(
  element: Element,
  name: string,
  parsing: Parsing,
): { readonly value: string; readonly range: TextRange } | undefined {
  const attribute = element.attributes.get(name)
  const child = oneChild(element, name, parsing)
  if (attribute && child)
    find(parsing, child.range, {
      message: `"${name}" is given twice`,
      hint: 'Keep the attribute or the element',
    })
  if (attribute) return { value: attribute.value.trim(), range: attribute.range }
  if (!child) return undefined
  checkShape(child, { attributes: [], children: [], text: true }, parsing)
  return { value: getText(child).trim(), range: child.range }
}

/** Like `readWord`, limited to a list of choices. */
export function readChoice<T extends string>(
  element: Element,
  name: string,
  { choices, parsing }: { readonly choices: readonly T[]; readonly parsing: Parsing },
): T | undefined {
  const word = readWord(element, name, parsing)
  if (word === undefined) return undefined
  const known = choices.find((choice) => choice === word.value)
  if (known === undefined)
    find(parsing, word.range, {
      message: `"${word.value.slice(0, 60)}" is no ${name}`,
      hint: `It is one of ${choices.join(', ')}`,
    })
  return known
}

/** The range of a text, without the space before it. */
function trimmed({ text, range }: Text): TextRange {
  const lead = text.length - text.trimStart().length
  return [Math.min(range[0] + lead, range[1]), range[1]]
}
