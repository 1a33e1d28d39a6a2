/** Parses `<task>`: its description, inputs and output. */
import { type OutputFormat, shorthandSchema } from '../../../output/index.ts'
import {
  checkShape,
  elementsIn,
  find,
  getAttribute,
  getText,
  oneChild,
  type Parsing,
  readChoice,
  readWord,
} from './elements.ts'
import { namePattern } from './expression.ts'
import { parseDescription, parseExpression } from './parse-text.ts'
import type { Element } from './read-xml.ts'
import type { BodyNode, ContextRules, InputNode, NamedExpression, TaskBase, TaskNode } from './template.ts'

/** Names of the elements that yield a value. */
export const bodyNames = ['task', 'call', 'cond'] as const

/** Parses the single value inside an element. */
type ParseInner = (element: Element, parsing: Parsing) => BodyNode | undefined

/** Parses `<task>`, `<call>` or `<cond>`. */
type ParseBody = (element: Element, parsing: Parsing) => BodyNode | undefined

const words = ['name', 'provider', 'output_slot', 'input_source']
const contextWords = ['inherit_context', 'accumulate_data', 'accumulation_format', 'fresh_context']
const shape = {
  attributes: [...words, 'type'],
  children: [
    ...words.slice(1),
    'description',
    'output_format',
    'context_management',
    'inputs',
    'steps',
    'initial_value',
    'inner_task',
    'reduction_task',
    'file_paths',
  ],
}

/** Task types of other systems, and the equivalent here. */
const otherTypes: Readonly<Record<string, string>> = {
  script:
    'Commands are not run from templates: bring the program as a capability with --use FILE, and call it from a draft',
  director_evaluator_loop: 'Write the rounds as steps of a sequence, or a loop with a bound in a pipeline',
}

export function parseTask(
  element: Element,
  parsing: Parsing,
  { parseInner, parseBody }: { readonly parseInner: ParseInner; readonly parseBody: ParseBody },
): TaskNode | undefined {
  checkShape(element, shape, parsing)
  const type = getAttribute(element, 'type') ?? 'atomic'
  const base = { kind: 'task' as const, ...parseBase(element, parsing, parseInner) }
  only(element, parsing, type)
  switch (type) {
    case 'atomic':
      return { ...base, type }
    case 'sequential': {
      const steps = oneChild(element, 'steps', parsing)
      if (steps) checkShape(steps, { attributes: [], children: bodyNames }, parsing)
      const bodies = (steps ? elementsIn(steps) : []).flatMap((step) => parseBody(step, parsing) ?? [])
      if (bodies.length === 0)
        find(parsing, element.range, {
          message: 'a sequence has at least one step',
          hint: 'Put tasks into <steps>',
        })
      return { ...base, type, steps: bodies }
    }
    case 'reduce': {
      const inner = needed(element, 'inner_task', { parsing, parseInner })
      const reduction = needed(element, 'reduction_task', { parsing, parseInner })
      const initial = oneChild(element, 'initial_value', parsing)
      if (base.inputs.length === 0)
        find(parsing, element.range, { message: 'a reduction needs inputs', hint: 'Name them in <inputs>' })
      if (!inner || !reduction) return undefined
      return { ...base, type, inner, reduction, ...(initial && { initialValue: getText(initial).trim() }) }
    }
    default:
      find(parsing, element.attributes.get('type')?.range ?? element.range, {
        message: `a task of type "${type.slice(0, 60)}" is not known here`,
        hint: otherTypes[type] ?? 'It is one of atomic, sequential, reduce',
      })
      return undefined
  }
}

/** Child elements that belong to one type only. */
const partsOf: Readonly<Record<string, readonly string[]>> = {
  sequential: ['steps'],
  reduce: ['initial_value', 'inner_task', 'reduction_task'],
}

function only(element: Element, parsing: Parsing, type: string): void {
  for (const [owner, parts] of Object.entries(partsOf)) {
    if (owner === type) continue
    for (const child of elementsIn(element))
      if (parts.includes(child.name))
        find(parsing, child.range, {
          message: `<${child.name}> belongs to tasks of type "${owner}", not "${type}"`,
          hint: `Set type="${owner}"`,
        })
  }
}

function needed(
  element: Element,
  name: string,
  { parsing, parseInner }: { readonly parsing: Parsing; readonly parseInner: ParseInner },
): BodyNode | undefined {
  const child = oneChild(element, name, parsing)
  if (child) return parseInner(child, parsing)
  find(parsing, element.range, { message: `a reduction needs <${name}>` })
  return undefined
}

function parseBase(element: Element, parsing: Parsing, parseInner: ParseInner): Omit<TaskBase, 'kind'> {
  const files = oneChild(element, 'file_paths', parsing)
  if (files)
    find(parsing, files.range, {
      message: 'a template reads no files: it has no references to the outside',
      hint: 'Pass what is in them as an input',
    })
  const name = getAttribute(element, 'name')
  const provider = readWord(element, 'provider', parsing)?.value
  const slot = readWord(element, 'output_slot', parsing)
  const source = readWord(element, 'input_source', parsing)
  const format = oneChild(element, 'output_format', parsing)
  const outputFormat = format && parseFormat(format, parsing)
  const described = oneChild(element, 'description', parsing)
  if (
    !described &&
    getAttribute(element, 'type') !== 'sequential' &&
    getAttribute(element, 'type') !== 'reduce'
  )
    find(parsing, element.range, { message: 'a task says what is to be done', hint: 'Add <description>' })
  if (described) checkShape(described, { attributes: [], children: [], text: true }, parsing)
  if (slot) checkName(slot, 'output_slot', parsing)
  const inputSource = source && getSource(source, parsing)
  return {
    range: element.range,
    description: described
      ? parseDescription(described, parsing)
      : { text: '', expressions: [], range: element.range },
    inputs: parseInputs(element, parsing, parseInner),
    context: parseContext(element, parsing),
    ...(name !== undefined && name !== '' && { name }),
    ...(provider !== undefined && provider !== '' && { provider }),
    ...(slot && { outputSlot: slot.value }),
    ...(inputSource && { inputSource }),
    ...(outputFormat && { outputFormat, formatRange: format.range }),
  }
}

function getSource(
  { value, range }: { readonly value: string; readonly range: Element['range'] },
  parsing: Parsing,
): NamedExpression | undefined {
  const node = parseExpression(value, range, parsing)
  return node && { name: 'input', node }
}

export function checkName(
  { value, range }: { readonly value: string; readonly range: Element['range'] },
  what: string,
  parsing: Parsing,
): void {
  if (namePattern.test(value)) return
  find(parsing, range, {
    message: `"${value.slice(0, 60)}" cannot be the name of a ${what}`,
    hint: 'Names begin with a letter or _ and hold letters, digits, _ and -',
  })
}

function parseFormat(element: Element, parsing: Parsing): OutputFormat | undefined {
  checkShape(element, { attributes: ['type', 'schema'], children: [] }, parsing)
  const type = getAttribute(element, 'type')
  const schema = element.attributes.get('schema')
  if (type !== 'json' && type !== 'text') {
    find(parsing, element.attributes.get('type')?.range ?? element.range, {
      message:
        type === undefined ? '<output_format> has a type' : `"${type.slice(0, 60)}" is no output format`,
      hint: 'Set type="json" or type="text"',
    })
    return undefined
  }
  if (schema === undefined) return { type }
  if (type === 'text') {
    find(parsing, schema.range, {
      message: 'text has no schema',
      hint: 'Set type="json", or remove the schema',
    })
    return { type }
  }
  checkType(schema, parsing)
  return { type, schema: schema.value.trim() }
}

export function checkType(
  { value, range }: { readonly value: string; readonly range: Element['range'] },
  parsing: Parsing,
): void {
  if (shorthandSchema(value) !== undefined) return
  find(parsing, range, {
    message: `"${value.slice(0, 60)}" is not the name of a type`,
    hint: 'It is object, array, string, number, integer, boolean or null, with [] for lists: string[]',
  })
}

function parseContext(element: Element, parsing: Parsing): ContextRules {
  const given = oneChild(element, 'context_management', parsing)
  if (!given) return { inherit: 'none', accumulate: false }
  checkShape(given, { attributes: contextWords, children: contextWords }, parsing)
  const choice = <T extends string>(name: string, choices: readonly T[]) =>
    readChoice(given, name, { choices, parsing })
  const inherit = choice('inherit_context', ['full', 'none', 'subset'])
  const accumulate = choice('accumulate_data', ['true', 'false'])
  const form = choice('accumulation_format', ['full', 'minimal'])
  const fresh = choice('fresh_context', ['enabled', 'disabled'])
  const cannot = (what: string, hint: string) => find(parsing, given.range, { message: what, hint })
  if (inherit === 'subset')
    cannot(
      'inherit_context "subset" chooses by a search that does not exist here',
      'Name what is needed in <inputs>',
    )
  if (form === 'minimal')
    cannot(
      'accumulation_format "minimal" keeps summaries, which are not made here',
      'Use "full", or name one result in <inputs>',
    )
  if (fresh === 'enabled')
    cannot(
      'fresh_context "enabled" searches a memory that does not exist here',
      'Pass what is needed as an input',
    )
  return { inherit: inherit === 'full' ? 'full' : 'none', accumulate: accumulate === 'true' }
}

function parseInputs(element: Element, parsing: Parsing, parseInner: ParseInner): InputNode[] {
  const holder = oneChild(element, 'inputs', parsing)
  if (!holder) return []
  checkShape(holder, { attributes: [], children: ['input'] }, parsing)
  const seen = new Set<string>()
  return elementsIn(holder)
    .filter(({ name }) => name === 'input')
    .flatMap((input) => {
      checkShape(input, { attributes: ['name', 'from'], children: bodyNames, text: true }, parsing)
      const name = input.attributes.get('name')
      if (name === undefined) find(parsing, input.range, { message: '<input> has a name' })
      else checkName(name, 'input', parsing)
      if (name && seen.has(name.value))
        find(parsing, name.range, { message: `there are two inputs "${name.value}"`, hint: 'Rename one' })
      seen.add(name?.value ?? '')
      const from = input.attributes.get('from')
      const value = from ? parseExpression(from.value, from.range, parsing) : parseInner(input, parsing)
      return name && value ? [{ name: name.value, from: value, range: input.range }] : []
    })
}
