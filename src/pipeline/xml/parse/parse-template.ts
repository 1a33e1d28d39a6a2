/**
 * Parses a template file: XML to the nodes of `template.ts`, or all findings. The compiler and the prover
 * decide whether it can run.
 */
import { issueAt, type SourceIssue } from '../../text/source.ts'
import { checkShape, elementsIn, find, getAttribute, getText, type Parsing, readWord } from './elements.ts'
import { bodyNames, checkName, checkType, parseTask } from './parse-task.ts'
import { parseValueText } from './parse-text.ts'
import { type Element, readXml } from './read-xml.ts'
import type { ArgNode, BodyNode, CaseNode, TemplateFile, TemplateNode } from './template.ts'

export type ParsedTemplate =
  | { readonly ok: true; readonly file: TemplateFile }
  | { readonly ok: false; readonly issues: readonly SourceIssue[] }

/**
 * Reads a template file. Never throws.
 *
 * @example
 * parseTemplate('<template name="hi" params="who" returns="string"><task><description>Greet {{who}}</description></task></template>')
 */
export function parseTemplate(given: string | Uint8Array, name = 'template'): ParsedTemplate {
  const read = readXml(given, name)
  if (!read.ok) return read
  const { source, root } = read.document
  const parsing: Parsing = { findings: [], text: source.text }
  const parts = parseRoot(root, parsing)
  if (parsing.findings.length > 0 || parts === undefined)
    return {
      ok: false,
      issues: parsing.findings.map((finding) => issueAt(source, finding)),
    }
  return { ok: true, file: { source, ...parts } }
}

const rootNames = ['templates', 'template', ...bodyNames]

function parseRoot(root: Element, parsing: Parsing): Omit<TemplateFile, 'source'> | undefined {
  if (root.name === 'template') {
    const template = parseTemplateNode(root, parsing)
    return template && { templates: new Map([[template.name, template]]), main: template }
  }
  if (root.name !== 'templates') {
    const main = parseBody(root, parsing)
    if (main === undefined && parsing.findings.length === 0) unknownRoot(root, parsing)
    return main && { templates: new Map(), main }
  }
  checkShape(root, { attributes: [], children: rootNames.slice(1) }, parsing)
  const templates = new Map<string, TemplateNode>()
  for (const child of elementsIn(root).filter(({ name }) => name === 'template')) {
    const template = parseTemplateNode(child, parsing)
    if (template && templates.has(template.name))
      find(parsing, child.range, {
        message: `there are two templates "${template.name}"`,
        hint: 'Rename one',
      })
    else if (template) templates.set(template.name, template)
  }
  const [first, second] = elementsIn(root).filter(({ name }) => bodyNames.some((body) => body === name))
  if (second)
    find(parsing, second.range, {
      message: 'a file has one task to run',
      hint: 'Put both into a task of type "sequential", or one of them into a <template>',
    })
  const [only] = templates.values()
  const main = first ? parseBody(first, parsing) : templates.size === 1 ? only : undefined
  if (!first && !main)
    find(parsing, root.range, {
      message: 'the file does not say which task to run',
      hint: 'Add a <task>, <call> or <cond> beside the templates',
    })
  return main && { templates, main }
}

function unknownRoot(root: Element, parsing: Parsing): void {
  find(parsing, root.range, {
    message: `a template file does not begin with <${root.name.slice(0, 60)}>`,
    hint: `It begins with one of ${rootNames.map((name) => `<${name}>`).join(', ')}`,
  })
}

/** Limit on parameters, far above what files need. */
const mostParams = 100

function parseTemplateNode(element: Element, parsing: Parsing): TemplateNode | undefined {
  checkShape(element, { attributes: ['name', 'params', 'returns'], children: bodyNames, text: true }, parsing)
  const name = element.attributes.get('name')
  if (name === undefined) find(parsing, element.range, { message: '<template> has a name' })
  else checkName(name, 'template', parsing)
  const given = element.attributes.get('params')
  const params = given?.value.split(/[\s,]+/).filter((param) => param !== '') ?? []
  if (given && params.length > mostParams) {
    find(parsing, given.range, {
      message: `a template has at most ${mostParams} parameters, and this one has ${params.length}`,
      hint: 'Pass one parameter with everything, and take its members: {{all.name}}',
    })
    return undefined
  }
  for (const param of params)
    checkName({ value: param, range: given?.range ?? element.range }, 'parameter', parsing)
  const seen = new Set<string>()
  const twice = params.find((param) => seen.size === seen.add(param).size)
  if (given && twice !== undefined)
    find(parsing, given.range, { message: `there are two parameters "${twice}"`, hint: 'Rename one' })
  const returns = element.attributes.get('returns')
  if (returns) checkType(returns, parsing)
  const body = parseInner(element, parsing)
  if (name === undefined || body === undefined) return undefined
  return {
    name: name.value,
    params,
    body,
    range: element.range,
    ...(returns && { returns: returns.value.trim() }),
  }
}

function parseBody(element: Element, parsing: Parsing): BodyNode | undefined {
  switch (element.name) {
    case 'task':
      return parseTask(element, parsing, { parseInner, parseBody })
    case 'call':
      return parseCall(element, parsing)
    case 'cond':
      return parseCond(element, parsing)
    default:
      return undefined
  }
}

/** Parses the single content of an element: a task, call or cond, one `{{…}}`, or a plain value. */
function parseInner(element: Element, parsing: Parsing): BodyNode | undefined {
  const [first, second] = elementsIn(element)
  if (second)
    find(parsing, second.range, { message: `<${element.name}> holds one thing`, hint: 'Use a sequence' })
  if (first && getText(element).trim() !== '')
    find(parsing, element.range, { message: `<${element.name}> holds an element or a text, not both` })
  if (first) return parseBody(first, parsing)
  if (getText(element).trim() !== '') return parseValueText(element, parsing)
  find(parsing, element.range, {
    message: `<${element.name}> is empty`,
    hint: 'Put a <task>, <call>, <cond>, {{…}} or a value into it',
  })
  return undefined
}

function parseCall(element: Element, parsing: Parsing): BodyNode | undefined {
  checkShape(element, { attributes: ['template', 'output_slot'], children: ['arg', 'output_slot'] }, parsing)
  const template = getAttribute(element, 'template')
  if (template === undefined)
    find(parsing, element.range, { message: '<call> says which template', hint: 'Set template="…"' })
  const args = elementsIn(element)
    .filter(({ name }) => name === 'arg')
    .flatMap((arg): ArgNode[] => {
      checkShape(arg, { attributes: ['name'], children: bodyNames, text: true }, parsing)
      const name = getAttribute(arg, 'name')
      const value = parseInner(arg, parsing)
      return value ? [{ value, range: arg.range, ...(name !== undefined && { name }) }] : []
    })
  return template === undefined
    ? undefined
    : { kind: 'call', template, args, range: element.range, ...getSlot(element, parsing) }
}

function parseCond(element: Element, parsing: Parsing): BodyNode | undefined {
  checkShape(element, { attributes: ['output_slot'], children: ['case', 'output_slot'] }, parsing)
  const found = elementsIn(element).filter(({ name }) => name === 'case')
  const cases = found.flatMap((each, index): CaseNode[] => {
    checkShape(each, { attributes: ['test'], children: bodyNames, text: true }, parsing)
    const test = toTest(each)
    if (test === undefined && index < found.length - 1)
      find(parsing, each.range, {
        message: 'a <case> without a test is always taken, so the cases after it never are',
        hint: 'Put it last, or give it a test',
      })
    const body = parseInner(each, parsing)
    return body ? [{ body, range: each.range, ...(test && { test }) }] : []
  })
  const last = found.at(-1)
  if (!found.some((each) => toTest(each)) && parsing.findings.length === 0)
    find(parsing, element.range, { message: '<cond> has a <case> with a test' })
  else if (last && toTest(last))
    find(parsing, element.range, {
      message: 'no case is taken when every test is false',
      hint: 'Add a last <case> without a test',
    })
  return { kind: 'cond', cases, range: element.range, ...getSlot(element, parsing) }
}

/** `test="true"` counts as no test. */
function toTest(element: Element): CaseNode['test'] {
  const test = element.attributes.get('test')
  return test === undefined || test.value.trim() === 'true'
    ? undefined
    : { text: test.value, range: test.range }
}

function getSlot(element: Element, parsing: Parsing): { outputSlot?: string } {
  const slot = readWord(element, 'output_slot', parsing)
  if (slot) checkName(slot, 'output_slot', parsing)
  return slot ? { outputSlot: slot.value } : {}
}
