/**
 * Templates: `{{ path | filter }}` in texts. Parsing returns located problems; rendering is a pure function
 * of the values. There are no statements.
 */
import { closest } from '../../base/closest.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, type Json, setOwn } from '../../base/json.ts'
import { applyFilters, filterArguments, isFilterName, templateFilters, type UsedFilter } from './filters.ts'

type Part = { readonly text: string } | { readonly expr: Expression }

export interface Expression {
  /** The source between the braces. */
  readonly source: string
  /** Names and indexes from the root; absent for a constant. */
  readonly path?: readonly string[]
  readonly constant?: Json
  readonly filters: readonly UsedFilter[]
}

interface TemplateProblem {
  /** The part of the text that is wrong. */
  readonly source: string
  readonly message: string
  readonly hint: string
}

type ParsedTemplate =
  | { readonly ok: true; readonly parts: readonly Part[] }
  | { readonly ok: false; readonly problem: TemplateProblem }

/**
 * @example
 * parseTemplate('Summarise {{ steps.fetch.output | tojson }}')
 */
export function parseTemplate(text: string): ParsedTemplate {
  const parts: Part[] = []
  let at = 0
  // Searched again only after it has been passed, so that parsing stays linear in the length of the text.
  let statement = text.indexOf('{%')
  for (;;) {
    const open = text.indexOf('{{', at)
    if (statement >= 0 && statement < at) statement = text.indexOf('{%', at)
    if (statement >= 0 && (open < 0 || statement < open))
      return wrong(
        text.slice(statement, statement + 20),
        'TEMPLATE-001: {% %} is not supported',
        'Only {{ }} is; use a conditional or a map step for choices and repetition',
      )
    if (open < 0) break
    if (open > at) parts.push({ text: text.slice(at, open) })
    const close = closing(text, open + 2)
    if (close < 0) return wrong(text.slice(open, open + 20), '{{ is not closed', 'Write }} after the path')
    const expr = parseExpression(text.slice(open + 2, close))
    if ('problem' in expr) return { ok: false, problem: expr.problem }
    parts.push({ expr })
    at = close + 2
  }
  if (at < text.length || parts.length === 0) parts.push({ text: text.slice(at) })
  return { ok: true, parts }
}

function wrong(source: string, message: string, hint: string): { ok: false; problem: TemplateProblem } {
  return { ok: false, problem: { source, message, hint } }
}

/** Offset of the next `}}` outside of quotes. */
function closing(text: string, from: number): number {
  let quote = ''
  for (let at = from; at < text.length; at++) {
    const char = text[at] ?? ''
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === '}' && text[at + 1] === '}') return at
  }
  return -1
}

const token = /\s*(?:([A-Za-z_][\w-]*)|("[^"]*"|'[^']*')|(-?\d+(?:\.\d+)?)|([.[\]|(),]))/y

function parseExpression(source: string): Expression | { readonly problem: TemplateProblem } {
  const words: string[] = []
  token.lastIndex = 0
  while (token.lastIndex < source.trimEnd().length) {
    const found = token.exec(source)
    if (!found)
      return problem(
        source,
        `{{${source}}} cannot be read`,
        'Write a path such as steps.NAME.output, and filters after |',
      )
    words.push((found[0] ?? '').trim())
  }
  const [head, ...rest] = split(words, '|')
  const subject = parseSubject(head ?? [])
  if (subject === undefined)
    return problem(
      source,
      `{{${source}}} names no value`,
      'Write a path such as previous_step, steps.NAME.output, context.KEY or input',
    )
  const used: UsedFilter[] = []
  for (const words of rest) {
    const filter = parseFilter(words)
    if (filter === undefined)
      return problem(
        source,
        `the filter in {{${source}}} cannot be read`,
        'Write | name, or | name("argument")',
      )
    const { name, args } = filter
    if (!isFilterName(name)) {
      const meant = closest(name, templateFilters)
      const hint = meant === undefined ? `There are ${templateFilters.join(', ')}` : `Did you mean ${meant}?`
      return problem(source, `filter "${name}" not found`, hint)
    }
    const [least, most] = filterArguments[name] ?? [0, 0]
    const given = args.length
    if (given < least || given > most)
      return problem(
        source,
        `the filter ${name} takes ${describeCount(least, most)}, got ${given}`,
        name === 'truncate' ? 'Write truncate(100)' : 'Write | name, or | name("argument")',
      )
    used.push({ name, args })
  }
  return { source: source.trim(), ...subject, filters: used }
}

function describeCount(least: number, most: number): string {
  if (most === 0) return 'no argument'
  return least === most ? 'one argument' : 'at most one argument'
}

function problem(source: string, message: string, hint: string): { readonly problem: TemplateProblem } {
  return { problem: { source: `{{${source}}}`, message, hint } }
}

function split(words: readonly string[], by: string): string[][] {
  const groups: string[][] = [[]]
  for (const word of words) {
    if (word === by) groups.push([])
    else groups.at(-1)?.push(word)
  }
  return groups
}

const isName = (word: string | undefined): word is string => word !== undefined && /^[A-Za-z_]/.test(word)

function parseSubject(words: readonly string[]): { path: string[] } | { constant: Json } | undefined {
  const [first, ...rest] = words
  if (words.length === 1 && first !== undefined && !isName(first)) return toConstant(first)
  if (!isName(first)) return undefined
  const path = [first]
  for (let at = 0; at < rest.length; ) {
    if (rest[at] === '.' && (isName(rest[at + 1]) || /^\d+$/.test(rest[at + 1] ?? ''))) {
      path.push(rest[at + 1] as string)
      at += 2
    } else if (rest[at] === '[' && rest[at + 2] === ']') {
      const inside = toConstant(rest[at + 1] ?? '')
      if (inside === undefined) return undefined
      path.push(String(inside.constant))
      at += 3
    } else return undefined
  }
  return { path }
}

function toConstant(word: string): { constant: Json } | undefined {
  if (/^["']/.test(word)) return { constant: word.slice(1, -1) }
  return /^-?\d/.test(word) ? { constant: Number(word) } : undefined
}

function parseFilter(words: readonly string[]): { name: string; args: readonly Json[] } | undefined {
  const [name, open, ...rest] = words
  if (!isName(name)) return undefined
  if (open === undefined) return { name, args: [] }
  if (open !== '(' || rest.at(-1) !== ')') return undefined
  const args = split(rest.slice(0, -1), ',').filter((group) => group.length > 0)
  const values = args.map((group) => (group.length === 1 ? toConstant(group[0] ?? '') : undefined))
  return values.includes(undefined)
    ? undefined
    : { name, args: values.map((value) => value?.constant ?? null) }
}

/** The expressions in a value that contains templates. */
export function expressionsIn(value: Json): readonly Expression[] {
  if (typeof value === 'string') {
    const parsed = parseTemplate(value)
    return parsed.ok ? parsed.parts.flatMap((part) => ('expr' in part ? [part.expr] : [])) : []
  }
  if (Array.isArray(value)) return value.flatMap(expressionsIn)
  return isObject(value) ? Object.values(value as { [key: string]: Json }).flatMap(expressionsIn) : []
}

/** The expression that is the whole text, and yields a value instead of a text. */
export function onlyExpression(given: Json): Expression | undefined {
  if (typeof given !== 'string') return undefined
  const parsed = parseTemplate(given)
  const [only] = parsed.ok ? parsed.parts : []
  return parsed.ok && parsed.parts.length === 1 && only && 'expr' in only ? only.expr : undefined
}

/** Looks up the value at a path; `undefined` if absent. */
type Find = (path: readonly string[]) => Json | undefined

/**
 * Renders a value: a text that is a single expression becomes its value, other texts stay texts. Throws when
 * a value is missing.
 */
export function renderValue(value: Json, find: Find): Json {
  if (typeof value === 'string') return renderText(value, find)
  if (Array.isArray(value)) return value.map((item: Json) => renderValue(item, find))
  if (!isObject(value)) return value
  const made = {}
  for (const [key, member] of Object.entries(value as { [key: string]: Json }))
    setOwn(made, key, renderValue(member, find))
  return made
}

function renderText(text: string, find: Find): Json {
  const parsed = parseTemplate(text)
  if (!parsed.ok) throw new Error(parsed.problem.message)
  const [only] = parsed.parts
  if (parsed.parts.length === 1 && only && 'expr' in only) return evaluate(only.expr, find)
  return parsed.parts.map((part) => ('text' in part ? part.text : asText(evaluate(part.expr, find)))).join('')
}

function evaluate({ path, constant, filters: used, source }: Expression, find: Find): Json {
  const value = applyFilters(path === undefined ? constant : find(path), used)
  if (value === undefined)
    throw new ProvisoError('capability/refused', `{{ ${source} }} stands for nothing here`, {
      hint: `Give it a default, as in {{ ${source} | default("…") }}`,
    })
  return value
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Wraps a bare path in `{{ }}`. */
export function asTemplate(text: string): string {
  const parsed = parseTemplate(text)
  return parsed.ok && parsed.parts.some((part) => 'expr' in part) ? text : `{{ ${text} }}`
}
