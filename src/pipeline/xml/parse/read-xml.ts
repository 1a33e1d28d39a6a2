/**
 * Reads XML into a tree of elements with ranges, or returns located issues. Safe for untrusted files: no
 * DOCTYPE, no custom entities, no external references.
 */
import { SaxesParser } from 'saxes'
import type { TextRange } from '../../../base/errors/issue.ts'
import { decodeUtf8 } from '../../text/decode-utf8.ts'
import { createSource, type Finding, issueAt, type Source, type SourceIssue } from '../../text/source.ts'

export const xmlLimits = {
  /** Bytes of one file. */
  bytes: 256 * 1024,
  /** Nesting depth of elements. */
  depth: 64,
  /** Total number of elements. */
  elements: 10_000,
} as const

interface Attribute {
  readonly value: string
  /** Covers name and value. */
  readonly range: TextRange
}

/** Text between tags; entities and CDATA are resolved, the range refers to the file. */
export interface Text {
  readonly text: string
  readonly range: TextRange
}

export interface Element {
  readonly name: string
  /** Range of the opening tag. */
  readonly range: TextRange
  readonly attributes: ReadonlyMap<string, Attribute>
  readonly children: readonly (Element | Text)[]
}

interface XmlDocument {
  readonly source: Source
  readonly root: Element
}

type ReadXml =
  | { readonly ok: true; readonly document: XmlDocument }
  | { readonly ok: false; readonly issues: readonly SourceIssue[] }

export function isElement(child: Element | Text): child is Element {
  return 'name' in child
}

/**
 * @example
 * readXml('<task><description>List the files</description></task>', 'list.xml')
 */
export function readXml(given: string | Uint8Array, name = 'template'): ReadXml {
  const bytes = typeof given === 'string' ? Buffer.byteLength(given) : given.byteLength
  if (bytes > xmlLimits.bytes) return xmlTooLarge(name, bytes)
  const decoded = typeof given === 'string' ? { text: given } : decodeUtf8(given)
  const source = createSource(decoded.text, name)
  if ('finding' in decoded) return refuse(source, { ...decoded.finding, code: 'template/utf-8' })
  try {
    return { ok: true, document: { source, root: grow(source.text) } }
  } catch (error) {
    if (error instanceof Stop) return refuse(source, error.finding)
    throw error
  }
}

/** For files whose size is known before they are read. */
export function xmlTooLarge(name: string, bytes: number): ReadXml {
  return refuse(createSource('', name), {
    code: 'template/limit',
    range: [0, 0],
    message: `the file has ${bytes} bytes, more than the ${xmlLimits.bytes} that a template may have`,
    hint: 'Pass long texts as inputs instead of writing them into the template',
  })
}

function refuse(source: Source, finding: Finding): ReadXml {
  return { ok: false, issues: [issueAt(source, finding)] }
}

/** Aborts the parser at the first error; `readXml` catches it. */
class Stop extends Error {
  readonly finding: Finding

  constructor(finding: Finding) {
    super(finding.message)
    this.finding = finding
  }
}

interface Growing extends Element {
  readonly attributes: Map<string, Attribute>
  readonly children: (Element | Text)[]
  range: TextRange
}

function grow(text: string): Element {
  const parser = new SaxesParser()
  // Without a prototype: on a plain object the parser would resolve `&constructor;`.
  parser.ENTITIES = Object.assign(Object.create(null), { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" })
  const open: Growing[] = []
  let root: Element | undefined
  let count = 0
  /** End of the markup before the current text. */
  let after = 0
  /** Start of the current part of the tag. */
  let part = 0
  const addText = (said: string) => {
    const start = after
    after = Math.max(after, Math.min(parser.position, text.length))
    open.at(-1)?.children.push({ text: said, range: [start, after] })
  }
  parser.on('error', (error) => {
    const at = Math.max(0, Math.min(parser.position, text.length) - 1)
    throw new Stop({ range: [at, at + 1], ...wordsFor(error.message) })
  })
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding === undefined || /^(utf-?8|us-ascii)$/i.test(encoding)) return
    throw new Stop({
      code: 'template/encoding',
      range: [0, parser.position],
      message: `the file says that it is ${encoding}; templates are UTF-8`,
      hint: 'Save it as UTF-8 and say so, or leave the encoding out',
    })
  })
  parser.on('doctype', () => {
    const start = Math.max(0, text.lastIndexOf('<!DOCTYPE', parser.position))
    throw new Stop({
      code: 'template/doctype',
      range: [start, start + 9],
      message: 'a template has no DOCTYPE: entities and references to the outside are not read',
      hint: 'Remove it; &lt; &gt; &amp; &quot; and &apos; are always there',
    })
  })
  parser.on('processinginstruction', ({ target }) => {
    const start = Math.max(0, text.lastIndexOf('<?', parser.position))
    throw new Stop({
      code: 'template/instruction',
      range: [start, parser.position],
      message: `a template has no processing instructions such as <?${target} …?>`,
      hint: 'Remove it',
    })
  })
  parser.on('opentagstart', ({ name }) => {
    const start = text.lastIndexOf('<', parser.position - 1)
    if (open.length >= xmlLimits.depth || ++count > xmlLimits.elements) {
      const deep = open.length >= xmlLimits.depth
      throw new Stop({
        code: 'template/limit',
        range: [start, parser.position],
        message: deep
          ? `elements are nested more than ${xmlLimits.depth} deep`
          : `the file has more than ${xmlLimits.elements} elements`,
        hint: deep ? 'Call a template instead of nesting' : 'Split it',
      })
    }
    const element: Growing = { name, range: [start, parser.position], attributes: new Map(), children: [] }
    root ??= element
    open.at(-1)?.children.push(element)
    open.push(element)
    part = parser.position
  })
  parser.on('attribute', ({ name, value }) => {
    const from = part + Math.max(0, text.slice(part, parser.position).search(/\S/))
    part = parser.position
    const given = open.at(-1)?.attributes
    if (given?.has(name))
      throw new Stop({
        code: 'template/xml',
        range: [from, part],
        message: `the attribute "${name.slice(0, 60)}" is there twice`,
        hint: 'Keep one of them',
      })
    given?.set(name, { value, range: [from, part] })
  })
  parser.on('opentag', () => {
    const element = open.at(-1)
    if (element) element.range = [element.range[0], parser.position]
    after = parser.position
  })
  parser.on('closetag', () => {
    open.pop()
    after = parser.position
  })
  parser.on('comment', () => {
    after = parser.position
  })
  parser.on('text', addText)
  parser.on('cdata', addText)
  // Replaces a BOM by a space, so that it is not text before the root and offsets stay the same.
  parser.write(text.startsWith('\ufeff') ? ` ${text.slice(1)}` : text).close()
  if (root === undefined) throw new Stop({ range: [0, 0], ...wordsFor('no element') })
  return root
}

/** Turns an error of the parser into a message with a hint. */
function wordsFor(said: string): Omit<Finding, 'range'> {
  const message = said
    .replace(/^[\d:]*\s*/, '')
    .replace(/\.$/, '')
    .slice(0, 200)
  const entity = /entity/.test(message)
  return {
    code: 'template/xml',
    message: `this is not well-formed XML: ${message}`,
    hint: entity
      ? 'Only &lt; &gt; &amp; &quot; &apos; and numbers such as &#233; are known; write a plain & as &amp;'
      : 'Check that every tag is closed in order, attributes are quoted, and < and & in text are written &lt; and &amp;',
  }
}
